//! The memory plan, counted again with the sizes that the Rust types state.
//!
//! Where a type states another formula than the catalogue, and the machine has no room for what the types take, that is
//! the error; where it has room, the catalogue is stale all the same, since plan and reservations follow it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote_spanned};

use super::{holds, message};
use crate::checks::{memory as check, stale_catalogue};
use crate::emit::names::Names;
use crate::emit::plan::bytes;
use crate::model::{Linear, SIZES};
use crate::plan::Plan;
use crate::plan::memory::{Row, Table, tables};
use crate::source::Sources;
use crate::words::type_name;

/// An assertion for each memory and circuit, and one for each token.
pub fn asserts(plan: &Plan, names: &Names<'_>, sources: &Sources) -> TokenStream {
    let span = names.span;
    let tables = tables(plan);
    let judged: Vec<&Table> =
        tables.iter().filter(|table| table.has.is_some() && table.rows.iter().any(|row| row.token.is_some())).collect();
    let conditions: Vec<TokenStream> = judged.iter().map(|table| fits(plan, names, table)).collect();
    let mut asserts = quote_spanned!(span=> const MEMORY_FITS: bool = true #(&& #conditions)*;);
    for (number, (table, condition)) in judged.iter().zip(&conditions).enumerate() {
        // One of several that do not fit is enough.
        let before = &conditions[..number];
        let condition = quote_spanned!(span=> !(true #(&& #before)*) || #condition);
        let name = format_ident!("MemoryOf{number}", span = span);
        let text = message(&check::of_the_types(plan, table), sources);
        let graph = &names.graph;
        asserts.extend(holds(&name, &text, &quote_spanned!(span=> #graph), &condition));
    }
    let mut seen: Vec<&str> = Vec::new();
    for (position, stage) in plan.stages.iter().enumerate() {
        let Some((token, formula)) = stage.output.as_ref().filter(|(token, _)| !seen.contains(&token.as_str())) else {
            continue;
        };
        seen.push(token);
        let name = format_ident!("BytesOf{}", type_name(token), span = span);
        let text = message(&stale_catalogue::bytes(stage, token, formula), sources);
        let (output, stated) = (output(names, position), bytes(formula, span));
        let of_the_type = of_the_type(&output, &stated, names);
        let condition = quote_spanned!(span=> !MEMORY_FITS || #of_the_type.is(&#stated));
        asserts.extend(holds(&name, &text, &output, &condition));
    }
    asserts
}

fn output(names: &Names<'_>, stage: usize) -> TokenStream {
    let (span, stage) = (names.span, names.stage(stage));
    quote_spanned!(span=> <#stage as rt::Stage>::Out)
}

fn of_the_type(output: &TokenStream, otherwise: &TokenStream, names: &Names<'_>) -> TokenStream {
    let span = names.span;
    quote_spanned!(span=> rt::Bytes::stated_by::<#output>(#otherwise))
}

/// Whether the machine has room for the rows of a table, with the types' formulas in place of the catalogue's.
fn fits(plan: &Plan, names: &Names<'_>, table: &Table) -> TokenStream {
    let span = names.span;
    let (has, circuit) = (table.has.unwrap_or(u64::MAX), table.circuit.as_ref());
    let counts = plan.sizes.iter().find(|(name, _)| Some(name) == circuit).map_or([0; 6], |(_, counts)| *counts);
    let sizes = SIZES.map(|size| format_ident!("{size}", span = span));
    let of_tokens = |row: &Row| -> Option<(usize, Linear)> { Some((row.stage?, row.token?)) };
    let others = table.rows.iter().filter(|row| of_tokens(row).is_none());
    let others = others.fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
    let tokens = table.rows.iter().filter_map(|row| {
        let (stage, formula) = of_tokens(row)?;
        let (count, of_the_type) = (row.count, of_the_type(&output(names, stage), &bytes(&formula, span), names));
        Some(quote_spanned!(span=> (#count, #of_the_type)))
    });
    quote_spanned! {span=>
        (rt::Bytes::sum(&[#(#tokens),*], &rt::Sizes { #(#sizes: #counts),* }, #others) <= #has)
    }
}
