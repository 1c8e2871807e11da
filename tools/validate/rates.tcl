# Runs XCP or Reno over RED over one bottleneck in ns-2 and writes the progress of each flow.
#
#   ns rates.tcl KEY VALUE ...
#
# One-way agents, packets of 1000 B with headers. `flows` is a file of lines START STOP SIZE RTT:
# seconds, packets (0: without end) and milliseconds. `out` gets a line for each flow: the packet
# acknowledged last at the end of every `step`, then -- and when the last packet was acknowledged.

array set opt {
    protocol xcp flows "" out "" until 15 step 0.5
    rate 45Mb delay 18 buffer 225 loss_data 0 loss_ack 0 seed 1 rto_init 6 rto_min 0.2
}
source [file join [file dirname [info script]] common.tcl]

Agent/TCP set window_ 1000000
Agent/TCP set packetSize_ 960
Queue/RED set gentle_ true
Queue/RED set thresh_ [expr {$opt(buffer) / 3.0}]
Queue/RED set maxthresh_ [expr {$opt(buffer) / 1.5}]
Queue/RED set mean_pktsize_ 1000

set ns [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags XCP
set left [$ns node]
set right [$ns node]
set queue [expr {$opt(protocol) eq "xcp" ? "XCP" : "RED"}]
if {$opt(protocol) eq "xcp"} {
    $ns duplex-link $left $right $opt(rate) $opt(delay)ms XCP
    foreach {a b} [list $left $right $right $left] {
        set link [$ns link $a $b]
        set q [$link queue]
        $q set-link-capacity [[$link link] set bandwidth_]
    }
} else {
    $ns duplex-link $left $right $opt(rate) $opt(delay)ms RED
}
$ns queue-limit $left $right $opt(buffer)
$ns queue-limit $right $left 100000

lose_at_random lossmodel $left $right $opt(loss_data)
lose_at_random lossmodel $right $left $opt(loss_ack)

# hosts behind fast links, two for each round trip that occurs
proc host {rtt} {
    global ns left right opt hosts idle
    if {![info exists hosts($rtt)]} {
        set source [$ns node]
        set sink [$ns node]
        set rest [expr {($rtt - 2.0 * $opt(delay)) / 4.0}]
        set near [expr {2.0 * $rest - 1.0}]
        $ns duplex-link $source $left 1Gb ${near}ms DropTail
        $ns duplex-link $right $sink 1Gb 1ms DropTail
        foreach {a b} [list $source $left $left $source $right $sink $sink $right] {
            $ns queue-limit $a $b 1000000
        }
        set hosts($rtt) [list $source $sink]
        set idle($rtt) {}
    }
    return $hosts($rtt)
}

Class Transfer
Transfer instproc init {start stop size rtt} {
    global ns opt marked idle
    $self instvar tcp to at done marks
    set at $rtt
    set done ""
    set marks [lrepeat $marked -1]
    if {$size > 0 && [llength $idle($rtt)]} {
        foreach {tcp to} [lindex $idle($rtt) end] break
        set idle($rtt) [lrange $idle($rtt) 0 end-1]
        $tcp reset
        $to reset
        $tcp proc done {} "$self finished"
        $tcp advance $size
        return
    }
    foreach {source sink} [host $rtt] break
    if {$opt(protocol) eq "xcp"} {
        set tcp [new Agent/TCP/Reno/XCP]
        set to [new Agent/TCPSink/XCPSink]
        $tcp set tcpTick_ 0.01
    } else {
        set tcp [new Agent/TCP/Reno]
        set to [new Agent/TCPSink]
    }
    $ns attach-agent $source $tcp
    $ns attach-agent $sink $to
    $ns connect $tcp $to
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $tcp proc done {} "$self finished"
    if {$size > 0} {
        $tcp advance $size
    } else {
        $ftp start
        if {$stop > 0} { $ns at $stop "$ftp stop; $tcp set maxpkts_ 1" }
    }
}
Transfer instproc finished {} {
    global ns idle
    $self instvar tcp to at done
    set done [$ns now]
    $ns at [expr {$done + 5}] "lappend idle($at) {$tcp $to}"
}
Transfer instproc mark {} { $self instvar tcp marks; lappend marks [$tcp set ack_] }
Transfer instproc row {} {
    $self instvar done marks
    return "$marks -- $done"
}

# one after the other: thousands of waiting events slow ns-2's calendar down
set transfers {}
set marked 0
set in [open $opt(flows)]
while {[gets $in line] >= 0} { host [lindex $line 3] }  ;# routes are computed before the start
seek $in 0
proc start_next {} {
    global ns in transfers
    if {[gets $in line] < 0} return
    foreach {start stop size rtt} $line break
    $ns at $start "lappend transfers \[new Transfer $start $stop $size $rtt\]; start_next"
}
start_next
if {$opt(step) > 0} {
    for {set at $opt(step)} {$at <= $opt(until) + 1e-9} {set at [expr {$at + $opt(step)}]} {
        $ns at $at "foreach each \$transfers { \$each mark }; incr marked"
    }
}
$ns at [expr {$opt(until) + 0.001}] {
    set out [open $opt(out) w]
    foreach each $transfers { puts $out [$each row] }
    close $out
    exit 0
}
$ns run
