# What the scripts of ns-2 share: `source` it after the settings and their defaults are in `opt`.

foreach {key value} $argv {
    if {![info exists opt($key)]} { puts stderr "unknown setting $key"; exit 2 }
    set opt($key) $value
}
ns-random $opt(seed)

# ns-2 looks up every default of a new object anew, class by class: nearly all the time of a run
# with many short transfers. Here the defaults of a class are kept; nothing else changes.
SplitObject instproc init-instvar var {
    global default_of
    set class [$self info class]
    if {![info exists default_of($class,$var)]} {
        foreach ancestor [concat $class [$class info heritage]] {
            if {![catch {$ancestor set $var} value]} {
                set default_of($class,$var) $value
                break
            }
        }
    }
    # an older ns-2 asks for variables of which it has no default
    if {![info exists default_of($class,$var)]} return
    $self instvar -parse-part1 $var
    set $var $default_of($class,$var)
}
Simulator instproc create-eventtrace args {}

Agent/TCP set rtxcur_init_ $opt(rto_init)
Agent/TCP set minrto_ $opt(rto_min)
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false

# Loses a share of the packets at random: `where` is lossmodel (before the queue) or link-lossmodel
# (after the transmission).
proc lose_at_random {where from to share} {
    global ns
    if {$share == 0} return
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $share
    $model ranvar [new RandomVariable/Uniform]
    $model drop-target [new Agent/Null]
    $ns $where $model $from $to
}
