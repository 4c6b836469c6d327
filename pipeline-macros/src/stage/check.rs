//! The attribute against the signatures: every tag has its capability, every capability its tag, and the parts fit.

use pipeline_graph::words::Tag;

use super::Form;
use super::attribute::Attribute;
use super::faults::Faults;
use super::signature::{Function, Parameter, text};

/// Checks the whole implementation.
pub fn capabilities(attribute: &Attribute, form: &Form<'_>, faults: &mut Faults) {
    tags_are_paid_out(attribute, form, faults);
    tags_fit_the_backend(attribute, form, faults);
    for function in form.functions() {
        capabilities_are_declared(attribute, function, faults);
        capabilities_are_taken_once(function, faults);
    }
    slot_is_the_outputs(form, faults);
    match form {
        Form::Dealloc(function) => dealloc_has_no_job(function, faults),
        Form::One(function) => dead_is_deallocs(function, faults),
        Form::Two { start, finish } => {
            dead_is_deallocs(start, faults);
            dead_is_deallocs(finish, faults);
            start_hands_over(start, finish, faults);
        }
    }
}

fn tags_are_paid_out(attribute: &Attribute, form: &Form<'_>, faults: &mut Faults) {
    for (tag, word) in &attribute.tags {
        // `unmaps` outside `dealloc` is refused below, for a better reason.
        let judged_here = tag.word != "unmaps" || matches!(form, Form::Dealloc(_));
        let paid = form.functions().any(|function| takes(function, tag));
        if judged_here && !paid {
            let Tag { word: name, capability, parameter, .. } = tag;
            faults.at(
                word,
                "PL0704",
                format!("the tag `{name}` has no capability: take `{parameter}: &{capability}`, or drop the tag"),
            );
        }
    }
}

fn capabilities_are_declared(attribute: &Attribute, function: &Function<'_>, faults: &mut Faults) {
    for parameter in &function.parameters {
        if let Parameter::Capability(tag, ident, _) = parameter
            && !attribute.declares(tag.word)
        {
            let Tag { word, capability, .. } = tag;
            faults.at(
                ident,
                "PL0705",
                format!(
                    "`{capability}` is given to stages tagged `{word}`: write `#[stage({}, …, {word})]`",
                    attribute.name
                ),
            );
        }
    }
}

fn capabilities_are_taken_once(function: &Function<'_>, faults: &mut Faults) {
    for (position, parameter) in function.parameters.iter().enumerate() {
        let Parameter::Capability(tag, ident, _) = parameter else {
            continue;
        };
        let earlier = &function.parameters[..position];
        if earlier.iter().any(|other| matches!(other, Parameter::Capability(known, ..) if known == tag)) {
            faults.at(ident, "PL0706", format!("`{}` is taken twice by `{}`", tag.capability, function.name));
        }
    }
}

fn tags_fit_the_backend(attribute: &Attribute, form: &Form<'_>, faults: &mut Faults) {
    for (tag, word) in &attribute.tags {
        match (tag.word, attribute.backend, form) {
            ("gpu", "host", _) => {
                faults.at(
                    word,
                    "PL0708",
                    "a `host` implementation has no device: write `backend = cuda`, or drop `gpu`",
                );
            }
            ("unmaps", _, Form::One(_) | Form::Two { .. }) => {
                faults.at(word, "PL0708", "`unmaps` is the tag of `dealloc`: its one input is `dead: Dead`");
            }
            (other, _, Form::Dealloc(_)) if other != "unmaps" => {
                faults.at(word, "PL0708", format!("`dealloc` is tagged `unmaps` alone, not `{other}`"));
            }
            _ => {}
        }
    }
    if attribute.backend == "cuda" && !attribute.declares("gpu") {
        let message = "a `cuda` implementation runs on a device: add the tag `gpu` and take `gpu: &GpuDevice`";
        faults.at(&attribute.name, "PL0708", message);
    }
    if matches!(form, Form::Dealloc(_)) && !attribute.declares("unmaps") {
        let message =
            "`dealloc` gives memory back to the kernel: add the tag `unmaps` and take `permit: &DeallocPermit`";
        faults.at(&attribute.name, "PL0708", message);
    }
}

fn slot_is_the_outputs(form: &Form<'_>, faults: &mut Faults) {
    let output = match form {
        Form::One(function) | Form::Two { finish: function, .. } => function.output,
        Form::Dealloc(_) => None,
    };
    let mut seen = false;
    for parameter in form.functions().flat_map(|function| &function.parameters) {
        let Parameter::Slot(token, ty) = parameter else {
            continue;
        };
        if std::mem::replace(&mut seen, true) {
            faults.at(ty, "PL0706", "a firing puts out one token, so it has one slot; this is the second");
        }
        match (token, output) {
            (None, _) => faults.at(ty, "PL0706", "say what the slot is for: `Slot<'_, T>`"),
            (Some(token), Some(output)) if text(token) != text(output) => {
                let (token_text, output) = (text(token), text(output));
                let message = format!("the slot is for `{token_text}`, but the stage puts out `{output}`");
                faults.at(token, "PL0706", message);
            }
            _ => {}
        }
    }
}

fn dealloc_has_no_job(function: &Function<'_>, faults: &mut Faults) {
    let mut dead = 0;
    for parameter in &function.parameters {
        match parameter {
            Parameter::Dead => dead += 1,
            // The tag set says what is wrong with other capabilities.
            Parameter::Capability(..) | Parameter::Unknown => {}
            Parameter::Port(name, _) => {
                faults.at(name, "PL0706", "`dealloc` takes `dead: Dead` and its permit, nothing else");
            }
            Parameter::Slot(_, ty) | Parameter::Pending(ty) => {
                faults.at(ty, "PL0706", "`dealloc` takes `dead: Dead` and its permit, nothing else");
            }
            Parameter::Job | Parameter::Key => {
                faults.at(function.name, "PL0706", "`dealloc` takes `dead: Dead` and its permit, nothing else");
            }
        }
    }
    if dead != 1 {
        faults.at(function.name, "PL0706", "`dealloc` takes one dead slot: `dead: Dead`");
    }
    if let Some(output) = &function.output
        && text(output) != "()"
    {
        faults.at(output, "PL0707", "`dealloc` puts nothing out: it returns `Result<(), StageError>`");
    }
}

fn dead_is_deallocs(function: &Function<'_>, faults: &mut Faults) {
    if function.parameters.iter().any(|parameter| matches!(parameter, Parameter::Dead)) {
        faults.at(function.name, "PL0706", "dead slots go to `dealloc` alone, which is one function");
    }
    if function.output.is_some_and(|output| text(output) == "()") {
        faults.at(function.output, "PL0707", "a stage puts a token out; only `dealloc` returns `()`");
    }
}

fn start_hands_over(start: &Function<'_>, finish: &Function<'_>, faults: &mut Faults) {
    let pending = finish.parameters.iter().find_map(|parameter| match parameter {
        Parameter::Pending(ty) => Some(ty),
        _ => None,
    });
    if let (Some(made), Some(taken)) = (&start.output, pending)
        && text(made) != text(taken)
    {
        let message = format!("`start` returns `{}`, but `finish` takes `{}`", text(made), text(taken));
        faults.at(taken, "PL0706", message);
    }
    if let (Some(one), Some(other)) = (&start.job, &finish.job)
        && text(one) != text(other)
    {
        let message = format!("`start` reads the job `{}`, but `finish` reads `{}`", text(one), text(other));
        faults.at(other, "PL0706", message);
    }
}

fn takes(function: &Function<'_>, tag: &Tag) -> bool {
    function.parameters.iter().any(|parameter| matches!(parameter, Parameter::Capability(known, ..) if *known == tag))
}
