//! A session law outside of a scenario.

use super::GateLaw;
use crate::text::report::Problem;
use crate::text::tree;

impl GateLaw {
    /// The law of a table as the gate of a port has it: `{ law = "close-probe", relief = true }`;
    /// none for `{ law = "none" }`.
    ///
    /// # Errors
    /// What is wrong with the table, and what would be right.
    pub fn from_table(table: &toml::Table) -> Result<Option<GateLaw>, String> {
        let name = table.get("law");
        if !name.is_some_and(toml::Value::is_str) {
            return Err(match name {
                Some(other) => format!("law = {other}: write a name in quotes"),
                None => "which law? write law = \"close-probe\"".to_owned(),
            });
        }
        let told =
            |problem: Problem| format!("{}\n{}", problem.what, problem.help).trim_end().to_owned();
        let node = tree::toml_text(&table.to_string(), 0)
            .map_err(|problems| problems.into_iter().map(|p| p.what).collect::<String>())?;
        let law: GateLaw = node.decode().map_err(told)?;
        law.check().map_err(|(key, what)| format!("{key}: {what}"))?;
        Ok(Some(law).filter(|law| *law != GateLaw::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<GateLaw>, String> {
        GateLaw::from_table(&text.parse().expect("the text is TOML"))
    }

    // The tables are those of a port's gate, as `tidegate schema --keys gate` prints them.
    #[test]
    fn a_table_names_a_law_and_its_settings() {
        assert_eq!(parsed("law = 'none'"), Ok(None));
        let law = parsed("law = 'close-probe'\nalpha_min = 20\nrelief = true");
        let Ok(Some(GateLaw::CloseProbe(config))) = law else { panic!("{law:?}") };
        assert_eq!((config.alpha_min, config.relief, config.step_size), (20.0, true, 40.0));
    }

    #[test]
    fn a_law_admits_clients_where_it_has_eligibility() {
        let law = parsed("law = 'tide'\nadmit = 'clients'\nclients = { idle = '30s' }");
        let clients = law.expect("it is right").and_then(|law| law.clients().copied());
        assert_eq!(clients.map(|clients| clients.idle.secs()), Some(30.0));
        let admits = |text| parsed(text).map(|law| law.is_some_and(|law| law.clients().is_some()));
        assert_eq!(admits("law = 'tide'"), Ok(true), "one default, here and in a gate's file");
        assert_eq!(admits("law = 'tide'\nadmit = 'connections'"), Ok(false));
        assert_eq!(admits("law = 'tide'\nadmit = 'connections'\neligibility = false"), Ok(false));
        for (text, what) in [
            (
                "law = 'close-probe'\nadmit = 'clients'",
                "admit: clients and visits are admitted by eligibility",
            ),
            ("law = 'tide'\neligibility = false", "or `admit = \"connections\"`"),
            ("law = 'tide'\nclients = { idle = '0s' }", "`clients.idle`: 0s is out of range"),
            ("law = 'occupancy'\nadmit = 'clients'", "admit"),
        ] {
            assert!(parsed(text).expect_err(text).contains(what), "{text}");
        }
    }

    #[test]
    fn a_refusal_names_what_is_wrong() {
        let refused = |text| parsed(text).expect_err("it is wrong");
        assert!(refused("relief = true").contains("law = \"close-probe\""));
        assert!(refused("law = 'close-prob'").contains("close-probe"));
        assert!(refused("law = 'close-probe'\nalpha_mim = 1").contains("alpha_min"));
        assert!(refused("law = 'close-probe'\nbeta = 2").contains("`beta`: 2 is out of range"));
    }
}
