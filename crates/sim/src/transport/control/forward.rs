//! The methods of a control that stands before others, each of which calls the same method there.

/// Calls a macro with the methods of [`Control`](super::Control) that everybody who stands before
/// other controls passes on as they are: `ref` those that look, `mut` those that act.
macro_rules! passed_on {
    ($make:ident) => {
        $make! {
            ref cwnd() -> f64;
            ref ssthresh() -> Option<f64>;
            mut window_and_threshold() -> Option<[&mut f64; 2]>;
            mut on_spared(segments: u32);
            mut on_restart(now: Time);
            ref undoes() -> bool;
            mut on_undone(before: [f64; 2]);
            ref departure() -> Option<Time>;
            ref samples_rate() -> bool;
            ref linux_paces() -> bool;
            ref hears_losses() -> bool;
            ref holds_back() -> bool;
            ref keeps_window() -> bool;
            ref limited_transmit() -> bool;
            ref tells_of_loss(ext: &Ext) -> bool;
            mut header(now: Time) -> Ext;
            mut on_feedback(feedback: &Feedback<'_>);
            mut on_lost_syn(rule: LostSyn);
            ref hears_packets() -> bool;
            mut on_leaving(leaving: &Leaving);
            mut on_outcomes(outcomes: &[SentOutcome], now: Time);
            mut on_lost(lost: &Lost, now: Time);
            mut on_spurious();
        }
    };
}

/// Calls a macro with the methods that everybody but a start passes on as they are.
macro_rules! passed_on_but_by_a_start {
    ($make:ident) => {
        $make! {
            ref gap() -> Option<Time>;
            mut on_congestion(signal: Signal, at: &CongestionEvent);
            mut on_timeout(at: &CongestionEvent, again: bool);
            mut on_recovered(window: f64);
        }
    };
}

/// Defines such methods; `$call!(self, control => call)` makes the call at the other control.
///
/// `in field:` makes it at the control of a field.
macro_rules! forward {
    (in $inner:ident: $($kind:tt $name:ident($($arg:ident: $Type:ty),*) $(-> $Told:ty)?;)+) => {
        $(forward!(@in $kind $inner $name($($arg: $Type),*) $(-> $Told)?);)+
    };
    (@in ref $inner:ident $name:ident($($arg:ident: $Type:ty),*) $(-> $Told:ty)?) => {
        fn $name(&self $(, $arg: $Type)*) $(-> $Told)? {
            self.$inner.$name($($arg),*)
        }
    };
    (@in mut $inner:ident $name:ident($($arg:ident: $Type:ty),*) $(-> $Told:ty)?) => {
        fn $name(&mut self $(, $arg: $Type)*) $(-> $Told)? {
            self.$inner.$name($($arg),*)
        }
    };
    ($call:ident: $($kind:tt $name:ident($($arg:ident: $Type:ty),*) $(-> $Told:ty)?;)+) => {
        $(forward!(@$kind $call $name($($arg: $Type),*) $(-> $Told)?);)+
    };
    (@ref $call:ident $name:ident($($arg:ident: $Type:ty),*) $(-> $Told:ty)?) => {
        fn $name(&self $(, $arg: $Type)*) $(-> $Told)? {
            $call!(self, control => control.$name($($arg),*))
        }
    };
    (@mut $call:ident $name:ident($($arg:ident: $Type:ty),*) $(-> $Told:ty)?) => {
        fn $name(&mut self $(, $arg: $Type)*) $(-> $Told)? {
            $call!(self, control => control.$name($($arg),*))
        }
    };
}

/// Calls the same methods of the control inside.
macro_rules! to_inner {
    ($($methods:tt)+) => {
        forward! { in inner: $($methods)+ }
    };
}
