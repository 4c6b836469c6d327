//! The plan as an expression of `runtime::plan`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::model::{Ccds, Dealloc, GiveBack, Insist, Linear, SIZES, Share, Sku, TagSet, Unit};
use crate::plan::memory::{self, Memory, On, Row, Table};
use crate::plan::{Edge, Group, Plan, Pool, Role, StagePlan};
use crate::words::TAGS;

/// The expression; `rt` is `::pipeline_runtime::export`.
pub fn expression(plan: &Plan, span: Span) -> TokenStream {
    let text = |text: &str| quote_spanned!(span=> ::std::string::String::from(#text));
    let (graph, file, digest, policy) = (text(&plan.graph), text(&plan.file), text(&plan.digest), text(&plan.policy));
    let sku = option(plan.sku.as_ref().map(|machine| sku(machine, span)), span);
    let pools = plan.pools.iter().map(|one| pool(one, span));
    let groups = plan.groups.iter().map(|one| group(one, span));
    let live = memory::live_tokens(plan);
    let stages = plan.stages.iter().zip(live).map(|(one, live)| stage(one, live, span));
    let edges = plan.edges.iter().map(|one| edge(one, span));
    let tables = memory::tables(plan);
    let of_ram = tables.iter().filter(|table| table.memory == Memory::Ram);
    let memory = of_ram.map(|table| memory_table(table, span));
    let dealloc = word(
        match plan.dealloc {
            Dealloc::Recycle => "Recycle",
            Dealloc::BoundedFree => "BoundedFree",
            Dealloc::UnboundedFree => "UnboundedFree",
        },
        span,
    );
    let give_back = word(
        match plan.give_back {
            GiveBack::Unmap => "Unmap",
            GiveBack::DontNeed => "DontNeed",
            GiveBack::Free => "Free",
        },
        span,
    );
    quote_spanned! {span=>
        rt::Plan {
            graph: #graph,
            file: #file,
            digest: #digest,
            sku: #sku,
            pools: ::std::vec![#(#pools),*],
            groups: ::std::vec![#(#groups),*],
            stages: ::std::vec![#(#stages),*],
            edges: ::std::vec![#(#edges),*],
            policy: #policy,
            dealloc: rt::Dealloc::#dealloc,
            give_back: rt::GiveBack::#give_back,
            memory: ::std::vec![#(#memory),*],
        }
    }
}

/// What the machine is compared with at start-up: its RAM. That of devices was compared with the SKU, which names them.
fn memory_table(table: &Table, span: Span) -> TokenStream {
    let circuit = table.circuit.as_ref();
    let circuit = option(circuit.map(|name| quote_spanned!(span=> ::std::string::String::from(#name))), span);
    let rows = table.rows.iter().map(|row| {
        let Row { what, count, each, bytes, on, .. } = row;
        let on = match on {
            On::Everywhere => quote_spanned!(span=> Everywhere),
            On::Node(node) => quote_spanned!(span=> Node(#node)),
            On::Groups(groups) => quote_spanned!(span=> Groups(::std::vec![#(#groups),*])),
        };
        quote_spanned! {span=>
            rt::MemoryRow {
                what: ::std::string::String::from(#what),
                count: #count,
                each: #each,
                bytes: #bytes,
                on: rt::MemoryPlace::#on,
            }
        }
    });
    quote_spanned!(span=> rt::MemoryTable { circuit: #circuit, rows: ::std::vec![#(#rows),*] })
}

fn option(value: Option<TokenStream>, span: Span) -> TokenStream {
    match value {
        Some(value) => quote_spanned!(span=> ::core::option::Option::Some(#value)),
        None => quote_spanned!(span=> ::core::option::Option::None),
    }
}

fn sku(sku: &Sku, span: Span) -> TokenStream {
    let name = &sku.name;
    let (numa_nodes, ccds, cores_per_ccd) = (sku.numa_nodes.value, sku.ccds.value, sku.cores_per_ccd.value);
    let (threads_per_core, l3_bytes) = (sku.threads_per_core.value, sku.l3_per_ccd.value);
    let (ram_bytes, ram_bandwidth) = (sku.ram.value, sku.ram_bandwidth.value);
    let gpus = sku.gpus.iter().map(|gpu| {
        let (name, vram_bytes, arch) = (&gpu.name.value, gpu.vram.value, &gpu.arch.value);
        quote_spanned! {span=>
            rt::Gpu {
                name: ::std::string::String::from(#name),
                vram_bytes: #vram_bytes,
                arch: ::std::string::String::from(#arch),
            }
        }
    });
    quote_spanned! {span=>
        rt::Sku {
            name: ::std::string::String::from(#name),
            numa_nodes: #numa_nodes,
            ccds: #ccds,
            cores_per_ccd: #cores_per_ccd,
            threads_per_core: #threads_per_core,
            l3_bytes: #l3_bytes,
            ram_bytes: #ram_bytes,
            ram_bandwidth: #ram_bandwidth,
            gpus: ::std::vec![#(#gpus),*],
        }
    }
}

fn pool(pool: &Pool, span: Span) -> TokenStream {
    let (name, size) = (&pool.name, pool.size);
    let unit = word(
        match pool.unit {
            Unit::Count => "Count",
            Unit::Bytes => "Bytes",
        },
        span,
    );
    quote_spanned!(span=> rt::Pool { name: ::std::string::String::from(#name), size: #size, unit: rt::Unit::#unit })
}

fn group(group: &Group, span: Span) -> TokenStream {
    let (name, exclusive, smt) = (&group.name, group.exclusive, group.smt);
    let ccds = match &group.ccds {
        Ccds::All => quote_spanned!(span=> rt::Ccds::All),
        Ccds::List(list) => quote_spanned!(span=> rt::Ccds::List(::std::vec![#(#list),*])),
    };
    let share = word(
        match group.share {
            Share::Spread => "Spread",
            Share::Pack => "Pack",
        },
        span,
    );
    let insist = word(
        match group.insist {
            Insist::Demand => "Demand",
            Insist::Prefer => "Prefer",
        },
        span,
    );
    quote_spanned! {span=>
        rt::Group {
            name: ::std::string::String::from(#name),
            ccds: #ccds,
            share: rt::Share::#share,
            exclusive: #exclusive,
            insist: rt::Insist::#insist,
            smt: #smt,
        }
    }
}

fn stage(stage: &StagePlan, live: u64, span: Span) -> TokenStream {
    let (name, backend, workers, in_flight) = (&stage.name, &stage.backend, stage.workers, stage.in_flight);
    let tags = tags(stage.tags, span);
    let role = word(
        match stage.role {
            Role::Source => "Source",
            Role::Inner => "Inner",
            Role::Sink => "Sink",
            Role::Dealloc => "Dealloc",
        },
        span,
    );
    let number = |number: Option<u32>| option(number.map(|number| quote_spanned!(span=> #number)), span);
    let group = option(stage.group.map(|group| quote_spanned!(span=> #group)), span);
    let (device, threads) = (number(stage.device), number(stage.threads));
    let needs = stage.needs.iter().map(|(pool, weight)| quote_spanned!(span=> (#pool, #weight)));
    let formulas = |list: &[(usize, Linear)]| -> Vec<TokenStream> {
        let pairs = list.iter().map(|(pool, formula)| (pool, bytes(formula, span)));
        pairs.map(|(pool, bytes)| quote_spanned!(span=> (#pool, #bytes))).collect()
    };
    let (holds, workspace) = (formulas(&stage.holds), formulas(&stage.workspace));
    let token = bytes(&stage.output.as_ref().map(|(_, bytes)| *bytes).unwrap_or_default(), span);
    let slots = number((stage.role != Role::Dealloc).then(|| u32::try_from(live).unwrap_or(u32::MAX)));
    let (inputs, outputs) = (&stage.inputs, &stage.outputs);
    quote_spanned! {span=>
        rt::StagePlan {
            name: ::std::string::String::from(#name),
            backend: ::std::string::String::from(#backend),
            tags: #tags,
            role: rt::Role::#role,
            group: #group,
            device: #device,
            workers: #workers,
            threads: #threads,
            in_flight: #in_flight,
            needs: ::std::vec![#(#needs),*],
            holds: ::std::vec![#(#holds),*],
            workspace: ::std::vec![#(#workspace),*],
            bytes: #token,
            slots: #slots,
            inputs: ::std::vec![#(#inputs),*],
            outputs: ::std::vec![#(#outputs),*],
        }
    }
}

/// A set of tags as a constant expression.
pub fn tags(tags: TagSet, span: Span) -> TokenStream {
    let own = TAGS.iter().filter(|tag| tags.has(tag.word));
    let constants = own.map(|tag| format_ident!("{}", tag.constant, span = span));
    quote_spanned!(span=> rt::Tags::NONE #(.with(rt::Tags::#constants))*)
}

/// A formula as a constant expression.
pub fn bytes(formula: &Linear, span: Span) -> TokenStream {
    let (fixed, per) = (formula.fixed, formula.per);
    let sizes = SIZES.map(|size| word(size, span));
    quote_spanned!(span=> rt::Bytes { fixed: #fixed, per: rt::Sizes { #(#sizes: #per),* } })
}

fn edge(edge: &Edge, span: Span) -> TokenStream {
    let Edge { from, to, port, token, capacity, reserved_by, .. } = edge;
    quote_spanned! {span=>
        rt::Edge {
            from: #from,
            to: #to,
            port: #port,
            token: ::std::string::String::from(#token),
            capacity: #capacity,
            reserved_by: #reserved_by,
        }
    }
}

fn word(word: &str, span: Span) -> Ident {
    Ident::new(word, span)
}
