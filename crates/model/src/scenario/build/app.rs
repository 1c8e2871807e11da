//! The registry of applications: what drives the connections of a class whose users do more than
//! one flow each.

use tidegate_core::units::Time;

use super::problems::Check;
use super::{pages, video};
use crate::document::ClassDoc;
use crate::scenario::{App, Transport};

/// Defines the checks of applications from one line each: its variant of [`App`], and its key in a
/// class, which is the name of the module of its checks too.
macro_rules! apps {
    ($($App:ident = $key:ident;)+) => {
        /// Whether a class has an application.
        pub(super) fn is_given(doc: &ClassDoc) -> bool {
            $(doc.$key.is_some())||+
        }

        /// Sets the defaults of a class with one; called before the rest of the class is checked.
        pub(super) fn prepare(doc: &mut ClassDoc) {
            $($key::prepare(doc);)+
        }

        /// The checked application of a class, if it has one; `duration`: of the run.
        pub(super) fn app(
            check: &mut Check<'_>,
            name: &str,
            doc: &mut ClassDoc,
            transport: &Transport,
            duration: Time,
        ) -> Option<App> {
            // each is asked, so that everything that is wrong is said
            let found = [$($key::$key(check, name, doc, transport, duration).map(App::$App)),+];
            found.into_iter().flatten().next()
        }
    };
}

apps! {
    Video = video;
    Pages = pages;
}
