# The yardstick of `tidegate bench` in ns-2: long NewReno transfers over a dumbbell.
#
#   ns yardstick.tcl STARTS SECONDS
#
# STARTS is a file with the start of a flow, in seconds, on each line. Prints what it did and the
# CPU time of the simulation alone, as one line of JSON.

foreach {starts seconds} $argv break

# One-way TCP, the cheaper of the two that ns-2 has: a packet of 1500 B, an ACK of 40 B for each.
Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set useHeaders_ true
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 10
Agent/TCP set ssthresh_ 40
Agent/TCP set minrto_ 1
Agent/TCP set rtxcur_init_ 1
Agent/TCP set tcpTick_ 0.001
Agent/TCP set timestamps_ false

set ns [new Simulator]
# only what is used: a header of every kind that ns-2 knows would make a packet large
remove-all-packet-headers
add-packet-header IP TCP Flags

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 1Gb 18ms DropTail
# a limit of B holds B - 1 waiting packets
$ns queue-limit $left $right 3334
$ns queue-limit $right $left 1000000

set list [open $starts]
set flows 0
while {[gets $list start] >= 0} {
    set source [$ns node]
    set sink [$ns node]
    foreach {a b} [list $source $left $right $sink] {
        $ns duplex-link $a $b 10Gb 1ms DropTail
        $ns queue-limit $a $b 1000000
        $ns queue-limit $b $a 1000000
    }
    set tcp($flows) [new Agent/TCP/Newreno]
    set end [new Agent/TCPSink]
    $ns attach-agent $source $tcp($flows)
    $ns attach-agent $sink $end
    $ns connect $tcp($flows) $end
    $tcp($flows) set fid_ $flows
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($flows)
    $ns at $start "$ftp start"
    incr flows
}
close $list

# User and system time of this process, in ticks of 10 ms.
proc cpu {} {
    set stat [open /proc/self/stat]
    set fields [split [lindex [split [read $stat] ")"] end]]
    close $stat
    return [expr {([lindex $fields 12] + [lindex $fields 13]) / 100.0}]
}

proc report {} {
    global tcp flows seconds begin
    set cpu [expr {[cpu] - $begin}]
    set sent 0
    set again 0
    set answered 0
    set delivered 0
    for {set i 0} {$i < $flows} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
        incr again [$tcp($i) set nrexmitpack_]
        incr answered [$tcp($i) set nackpack_]
        # packets acknowledged in order, the first being 0
        incr delivered [expr {[$tcp($i) set ack_] + 1}]
    }
    # a link crossed by what was sent, two by what was not lost, three by each of its ACKs
    set hops [expr {$sent + 5 * $answered}]
    set goodput [expr {$delivered * 1460 * 8 / $seconds / 1e6}]
    puts "{\"packet_hops\": $hops, \"cpu_s\": $cpu, \"goodput_mbit_s\": $goodput}"
    exit 0
}

set begin [cpu]
$ns at $seconds report
$ns run
