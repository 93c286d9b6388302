//! One action of the specification, with the arguments that are known.

use std::fmt::Write;

use omnilink_tla::program::{Operation, Program, Unwritten, WrittenBound, WrittenWay};

/// The text of a step of an operation. For each parameter, the index of its value in the tuple `OL_a`; `None` if any
/// value of the set in `Next` is possible.
pub(super) fn written_action(
    program: &Program,
    operation: &Operation,
    known: &[Option<usize>],
) -> Result<String, Unwritten> {
    let name = program.written_name(operation.def)?;
    let call = Call { name, known };
    if operation.is_plain() && known.iter().all(Option::is_some) {
        return Ok(call.text(&WrittenWay { bounds: Vec::new(), given: Vec::new() }));
    }
    let ways: Vec<String> = program.written_ways(operation)?.iter().map(|way| call.along(way)).collect();
    Ok(match &*ways {
        [] => "FALSE".to_owned(),
        [way] => way.clone(),
        ways => format!("({})", ways.join(" \\/ ")),
    })
}

struct Call<'a> {
    name: &'a str,
    known: &'a [Option<usize>],
}

impl Call<'_> {
    /// The call with everything around it in `Next`.
    fn along(&self, way: &WrittenWay) -> String {
        let mut text = String::new();
        for bound in &way.bounds {
            text += &self.bound(bound);
        }
        for (param, expr) in &way.given {
            if let Some(place) = self.known[*param] {
                let _ = write!(text, "OL_a[{place}] = ({expr}) /\\ ");
            }
        }
        format!("({text}{})", self.text(way))
    }

    /// The conditions of a bound: known values are in its set, and names mean them from here on.
    fn bound(&self, bound: &WrittenBound) -> String {
        let value = |param: &Option<usize>| param.and_then(|param| self.known[param]);
        let places: Vec<(&str, Option<usize>)> =
            bound.names.iter().map(|(name, param)| (name.as_str(), value(param))).collect();
        let names = places.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let pattern = if bound.is_tuple { format!("<<{names}>>") } else { names };
        let set = &bound.set;
        if places.iter().all(|(_, place)| place.is_some()) {
            let mut text = String::from("LET");
            for (name, place) in &places {
                let _ = write!(text, " {name} == OL_a[{}]", place.expect("all are known"));
            }
            return format!("{text} IN {pattern} \\in ({set}) /\\ ");
        }
        let mut text = format!("\\E {pattern} \\in ({set}) : ");
        for (name, place) in places {
            if let Some(place) = place {
                let _ = write!(text, "{name} = OL_a[{place}] /\\ ");
            }
        }
        text
    }

    fn text(&self, way: &WrittenWay) -> String {
        let arg = |(param, place): (usize, &Option<usize>)| {
            if let Some(place) = place {
                return format!("OL_a[{place}]");
            }
            let bound = way.bounds.iter().flat_map(|bound| &bound.names).find(|(_, to)| *to == Some(param));
            let given = way.given.iter().find(|(to, _)| *to == param);
            match (bound, given) {
                (Some((name, _)), _) => name.clone(),
                (None, Some((_, expr))) => format!("({expr})"),
                (None, None) => unreachable!("`Next` gives every parameter an argument"),
            }
        };
        let args: Vec<String> = self.known.iter().enumerate().map(arg).collect();
        if args.is_empty() { self.name.to_owned() } else { format!("{}({})", self.name, args.join(", ")) }
    }
}
