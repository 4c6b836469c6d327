use super::*;

#[test]
fn groups_return() {
    let slots = |rows: &[(usize, usize)]| rows.iter().map(|&(m, row)| Slot::new(m, row)).collect::<Vec<_>>();
    for (slots, bytes) in [
        (slots(&[(2, 1023)]), 4),
        (slots(&[(0, 7), (0, 8), (0, 9)]), 4),
        (slots(&[(0, 1023), (1, 0)]), 18),
        (slots(&[(0, 7), (0, 9)]), 18),
        (slots(&[(0, 7), (1, 8), (2, 9), (0, 1), (1, 1), (2, 1), (0, 0), (0, 3)]), 18),
    ] {
        for (steps, continues) in [(0, false), (32, true)] {
            let mut stream = Vec::new();
            push_group(&mut stream, steps, continues, &slots);
            assert_eq!(stream.len(), bytes);
            let mut cursor = Cursor::new(&stream, 1);
            let group = cursor.group().unwrap();
            assert!(cursor.is_at_end());
            assert_eq!((group.steps, group.lanes, group.continues), (steps, slots.len(), continues));
            assert!(slots.iter().enumerate().all(|(lane, slot)| group.slots.of(lane) == *slot));
            assert_eq!(Cursor::new(&stream[..bytes - 1], 1).group(), None);
        }
    }
}

#[test]
fn steps_return() {
    for code_bytes in [1, 2, 4] {
        let top = u32::MAX >> (32 - 8 * code_bytes);
        for step in [1, 31, 0xff, 0x1fff, 0x1234_5678] {
            for codes in [[1; 8], [2; 8], [top; 8], [1, 2, 0, 3, top, 0, 5, 6]] {
                for lanes in 1..=LANES {
                    let terms: Vec<_> = (0..lanes).map(|lane| (9 + step * lane as u32, codes[lane])).collect();
                    let mut stream = Vec::new();
                    push_step(&mut stream, &terms, code_bytes as usize);
                    let mut cursor = Cursor::new(&stream, code_bytes as usize);
                    let got = cursor.step().unwrap();
                    assert!(cursor.is_at_end());
                    for (lane, &(column, code)) in terms.iter().enumerate() {
                        assert_eq!(got.codes.of(lane), code);
                        assert!(got.columns[lane] == column || code == 0);
                    }
                    let columns: Vec<_> = terms.iter().map(|term| term.0).collect();
                    assert!(got.columns.iter().all(|column| columns.contains(column)), "idle lanes read in range");
                    assert_eq!(Cursor::new(&stream[..stream.len() - 1], code_bytes as usize).step(), None);
                }
            }
        }
    }
}
