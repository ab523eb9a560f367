use proc_macro::TokenStream;
use quote::quote;

#[proc_macro]
pub fn run(_: TokenStream) -> TokenStream {
    let root = quote!(app);
    quote! { ::app::op::StoreTanh::run() + #root::op::StoreTanh::run() + std::op::other() }.into()
}
