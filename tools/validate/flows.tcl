# Runs a list of file transfers over one bottleneck in ns-2 and writes when each was closed.
#
#   ns flows.tcl KEY VALUE ...
#
# The network is the dumbbell of tidegate's scenarios: `pairs` sources and sinks behind access
# links, one bottleneck link each way. Transfers are two-way TCP (FullTcp): handshake, data, FIN.
# The delays in access_delay are used for the pairs in turn.
# answer_rto is the first timeout of the end that answers the SYN; by default that of the other end.
# A receiver checks every `wake` seconds for a delayed ACK; 0: never. Only a short segment that is
# not the last has its ACK delayed, and only small files send such segments.
# reuse 1: a transfer takes the two agents of an earlier one of its pair whose sender has closed,
# after `reset`, and so has its ports. New agents are made where none is free.

array set opt {
    flows "" out "" trace "" until 10
    rate 10Mb delay 98ms access_rate 100Mb access_delay 1ms pairs 1 buffer 217
    queue DropTail min_thresh 5 max_thresh 15 weight 0.002 max_p 0.1 gentle 0
    variant "" mss 536 window 20 iw 2 rto_init 3 rto_min 0.2 rto_max 60
    setbit 0 ecn 0 loss 0 ack_loss 0
    drop "" drop_back "" seed 1 answer_rto "" wake 0.1 reuse 0
}
source [file join [file dirname [info script]] common.tcl]

Agent/TCP set window_ $opt(window)
Agent/TCP set windowInit_ $opt(iw)
Agent/TCP set maxrto_ $opt(rto_max)
Agent/TCP set ecn_ $opt(ecn)
Agent/TCP/FullTcp set segsize_ $opt(mss)
Agent/TCP/FullTcp set debug_ false
Agent/TCP/FullTcp set interval_ $opt(wake)
Queue/RED set setbit_ $opt(setbit)
# marks at any probability, not only where it is under mark_p_
Queue/RED set use_mark_p_ false
Queue/RED set gentle_ $opt(gentle)
Queue/RED set thresh_ $opt(min_thresh)
Queue/RED set maxthresh_ $opt(max_thresh)
Queue/RED set q_weight_ $opt(weight)
Queue/RED set linterm_ [expr {1.0 / $opt(max_p)}]
# a trace shows TCP flags and acknowledgement numbers
Trace set show_tcphdr_ 1

set ns [new Simulator]
# only the headers that are used: with all of ns-2's a packet is large
# an older ns-2 lacks a header that it wants to remove
catch remove-all-packet-headers
add-packet-header IP TCP Flags

set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right $opt(rate) $opt(delay) $opt(queue)
$ns simplex-link $right $left $opt(rate) $opt(delay) DropTail
# drop-tail with a limit of B holds B - 1 waiting packets, RED holds B
$ns queue-limit $left $right [expr {$opt(buffer) + ($opt(queue) eq "DropTail")}]
$ns queue-limit $right $left 1000000
for {set i 0} {$i < $opt(pairs)} {incr i} {
    set source($i) [$ns node]
    set sink($i) [$ns node]
    set delay [lindex $opt(access_delay) [expr {$i % [llength $opt(access_delay)]}]]
    foreach {a b} [list $source($i) $left $right $sink($i)] {
        $ns duplex-link $a $b $opt(access_rate) $delay DropTail
        $ns queue-limit $a $b 1000000
        $ns queue-limit $b $a 1000000
    }
}

# Loses the listed packets, the first being 1, in the order in which they reach the link.
proc lose {from to numbers} {
    global ns
    if {$numbers eq ""} return
    set model [new ErrorModel/List]
    set places {}
    foreach number $numbers { lappend places [expr {$number - 1}] }
    $model droplist $places
    $model drop-target [new Agent/Null]
    $ns lossmodel $model $from $to
}
lose $left $right $opt(drop)
lose $right $left $opt(drop_back)

# Packets are lost after their transmission: data one way, acknowledgements the other.
lose_at_random link-lossmodel $left $right $opt(loss)
lose_at_random link-lossmodel $right $left $opt(ack_loss)

if {$opt(trace) ne ""} {
    set trace [open $opt(trace) w]
    $ns trace-queue $left $right $trace
    if {$opt(drop) ne "" || $opt(drop_back) ne ""} { $ns trace-queue $right $left $trace }
}

set list [open $opt(flows)]
set out [open $opt(out) w]
set flow 0

# Starts the next transfer of the list, and schedules the one after it.
proc start_next {} {
    global ns opt list flow next source sink out begun
    while {1} {
        foreach {at size pair} $next break
        incr flow
        foreach {src dst} [agents $pair] break
        $src set fid_ $flow
        $dst set fid_ $flow
        if {$opt(answer_rto) ne ""} {
            $dst set rtxcur_init_ $opt(answer_rto)
            $dst reset
        }
        $dst listen
        $src proc done {} "finished $flow $at $size; free $flow $pair $src $dst"
        $dst proc done {} {}
        if {$size < 0} {
            $src sendmsg -1 {}
        } else {
            # opening the connection clears the request to close, so it comes after
            $src advance-bytes $size
            $src sendmsg 0 MSG_EOF
        }
        if {[gets $list next] < 0} return
        set wait [expr {[lindex $next 0] - [$ns now]}]
        if {$wait > 0} { $ns at [lindex $next 0] start_next; return }
    }
}

# Returns two connected agents of a pair of hosts.
proc agents {pair} {
    global ns opt source sink unused
    if {[info exists unused($pair)] && [llength $unused($pair)] > 0} {
        foreach {src dst} $unused($pair) break
        set unused($pair) [lrange $unused($pair) 2 end]
        $src reset
        $dst reset
        return [list $src $dst]
    }
    set src [new Agent/TCP/FullTcp$opt(variant)]
    set dst [new Agent/TCP/FullTcp$opt(variant)]
    $ns attach-agent $source($pair) $src
    $ns attach-agent $sink($pair) $dst
    $ns connect $src $dst
    return [list $src $dst]
}

# Keeps the agents of a transfer that is over for a later one. An agent may say twice that it is done.
proc free {flow pair src dst} {
    global opt unused freed
    if {!$opt(reuse) || [info exists freed($flow)]} return
    set freed($flow) 1
    lappend unused($pair) $src $dst
}

proc finished {flow at size} {
    global ns out closed
    if {[info exists closed($flow)]} return
    set closed($flow) 1
    puts $out "$flow $at $size [format %.9f [$ns now]]"
}

if {[gets $list next] >= 0} { $ns at [lindex $next 0] start_next }
$ns at $opt(until) {
    close $out
    if {[info exists trace]} { close $trace }
    exit 0
}
$ns run
