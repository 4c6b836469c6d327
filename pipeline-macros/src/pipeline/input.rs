//! The arguments of `pipeline!`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Path, Token};

/// `"graphs/host.ron", env = "PROOFLINE_GRAPH", name = Pipeline, catalogue = "…", stages = ::proofline_stages`.
pub struct Input {
    /// The graph file, as the call has it.
    pub graph: LitStr,
    /// The environment variable that may name another.
    pub env: Option<String>,
    /// The type to emit.
    pub name: Ident,
    /// The catalogue file.
    pub catalogue: String,
    /// The crate of the stages.
    pub stages: TokenStream,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let graph: LitStr = input.parse().map_err(|error| {
            syn::Error::new(error.span(), "the path of a graph file comes first: `pipeline!(\"graphs/host.ron\")`")
        })?;
        let mut read = Input {
            graph,
            env: None,
            name: Ident::new("Pipeline", Span::call_site()),
            catalogue: "stages/catalogue.ron".to_owned(),
            stages: quote!(::proofline_stages),
        };
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let option: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match option.to_string().as_str() {
                "env" => read.env = Some(input.parse::<LitStr>()?.value()),
                "name" => read.name = input.parse()?,
                "catalogue" => read.catalogue = input.parse::<LitStr>()?.value(),
                "stages" => read.stages = input.parse::<Path>()?.to_token_stream(),
                other => {
                    let message = format!(
                        "`pipeline!` has no option `{other}`; there are `env`, `name`, `catalogue` and `stages`"
                    );
                    return Err(syn::Error::new(option.span(), message));
                }
            }
        }
        if input.is_empty() { Ok(read) } else { Err(input.error("expected `,`")) }
    }
}

impl Input {
    /// The graph file: the one that the environment variable names, if it is set and not empty.
    pub fn chosen_graph(&self) -> String {
        let other = self.env.as_ref().and_then(|name| std::env::var(name).ok()).filter(|value| !value.is_empty());
        other.unwrap_or_else(|| self.graph.value())
    }
}
