//! The command line that the process was started with, to be written into what it makes.

/// The command with all its flags, as a shell takes it: whoever has the file can make it again.
pub fn whole() -> String {
    shown(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()))
}

fn shown(words: impl Iterator<Item = String>) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./=:,+@%-".contains(letter);
    let word = |word: String| {
        if !word.is_empty() && word.chars().all(plain) {
            return word;
        }
        // It stands in a comment of one line.
        let one_line = word.replace(char::is_control, " ");
        format!("'{}'", one_line.replace('\'', "'\\''"))
    };
    std::iter::once("proofline".to_owned()).chain(words.map(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let words = ["sim", "a b.ron", "--set", "policy=priority(3)", "", "it's\n"].map(str::to_owned);
        assert_eq!(shown(words.into_iter()), r#"proofline sim 'a b.ron' --set 'policy=priority(3)' '' 'it'\''s '"#);
    }
}
