//! Names near a name: a calculator has no list of its signals, but knows each by its hash.

/// Longer names have too many neighbours.
const MAX_LEN: usize = 40;

/// The FNV-1a hash by which a calculator knows a name.
pub fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Names that a slip of the hand or of style away from `name`, the likelier first.
pub fn near(name: &str) -> Vec<String> {
    if !name.is_ascii() || name.len() > MAX_LEN {
        return Vec::new();
    }
    let mut near = vec![name.to_lowercase(), name.to_uppercase(), snake(name), camel(name), format!("{name}s")];
    let chars: Vec<char> = name.chars().collect();
    let alphabet = || ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(['_', '.']);
    for at in 0..chars.len() {
        let mut edited = chars.clone();
        edited.remove(at);
        near.push(edited.iter().collect());
        if at + 1 < chars.len() {
            let mut edited = chars.clone();
            edited.swap(at, at + 1);
            near.push(edited.into_iter().collect());
        }
    }
    for at in 0..=chars.len() {
        for letter in alphabet() {
            if let Some(place) = chars.get(at) {
                near.push(chars.iter().enumerate().map(|(i, c)| if i == at { letter } else { *c }).collect());
                debug_assert!(place.is_ascii());
            }
            let mut edited = chars.clone();
            edited.insert(at, letter);
            near.push(edited.into_iter().collect());
        }
    }
    near.retain(|near| near != name && !near.is_empty());
    near
}

/// `pathIndices` as `path_indices`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// `path_indices` as `pathIndices`.
fn camel(name: &str) -> String {
    let mut out = String::new();
    let mut up = false;
    for letter in name.chars() {
        if letter == '_' {
            up = !out.is_empty();
        } else {
            out.push(if up { letter.to_ascii_uppercase() } else { letter });
            up = false;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn slips_and_styles_are_near() {
        for (given, meant) in [
            ("inn", "in"),
            ("i", "in"),
            ("ni", "in"),
            ("im", "in"),
            ("In", "in"),
            ("path_indices", "pathIndices"),
            ("pathIndices", "path_indices"),
            ("pathElement", "pathElements"),
        ] {
            assert!(near(given).iter().any(|name| name == meant), "{given}");
        }
    }

    #[test]
    fn the_neighbours_are_bounded() {
        assert!(near(&"a".repeat(MAX_LEN)).len() < 6000);
        assert!(near(&"a".repeat(MAX_LEN + 1)).is_empty());
        assert!(near("größe").is_empty());
    }
}
