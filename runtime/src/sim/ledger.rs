//! Who still reads which token, and how much memory is live.

use crate::key::TokenKey;
use crate::permits::Claim;
use crate::plan::Plan;

/// The live tokens of a simulation.
pub(super) struct Ledger {
    tokens: Vec<Token>,
    free: Vec<usize>,
    /// By edge: tokens that lie on it.
    edges: Vec<Vec<(TokenKey, usize)>>,
    live_bytes: f64,
    peak_bytes: f64,
    sampled_every_s: f64,
    next_sample_s: f64,
}

/// A slot.
pub(super) struct Token {
    pub(super) key: TokenKey,
    pub(super) bytes: f64,
    readers: usize,
    pub(super) hold: Claim,
}

impl Ledger {
    pub(super) fn new(plan: &Plan, resident_bytes: f64, sampled_every_s: f64) -> Self {
        let edges = plan.edges.iter().map(|_| Vec::new()).collect();
        Self {
            tokens: Vec::new(),
            free: Vec::new(),
            edges,
            live_bytes: resident_bytes,
            peak_bytes: resident_bytes,
            sampled_every_s,
            next_sample_s: sampled_every_s,
        }
    }

    /// Memory that is not a token's comes (or goes, negative).
    pub(super) fn add(&mut self, bytes: f64) {
        self.live_bytes += bytes;
        if self.sampled_every_s <= 0.0 {
            self.peak_bytes = self.peak_bytes.max(self.live_bytes);
        }
    }

    /// Nothing changed until `now_s`.
    pub(super) fn pass(&mut self, now_s: f64) {
        if self.sampled_every_s > 0.0 && now_s >= self.next_sample_s {
            self.peak_bytes = self.peak_bytes.max(self.live_bytes);
            self.next_sample_s = ((now_s / self.sampled_every_s).floor() + 1.0) * self.sampled_every_s;
        }
    }

    /// A slot is taken.
    pub(super) fn take(&mut self, key: TokenKey, bytes: f64) -> usize {
        self.add(bytes);
        let token = Token { key, bytes, readers: 0, hold: Claim::new() };
        match self.free.pop() {
            Some(at) => {
                self.tokens[at] = token;
                at
            }
            None => {
                self.tokens.push(token);
                self.tokens.len() - 1
            }
        }
    }

    /// A slot gets more memory.
    pub(super) fn grow(&mut self, token: usize, bytes: f64) {
        self.tokens[token].bytes += bytes;
        self.add(bytes);
    }

    /// A token is put on edges.
    pub(super) fn put(&mut self, token: usize, edges: &[usize], hold: Claim) {
        let state = &mut self.tokens[token];
        (state.readers, state.hold) = (edges.len(), hold);
        let key = state.key;
        edges.iter().for_each(|edge| self.edges[*edge].push((key, token)));
    }

    /// Takes the token of that key off an edge; `None` for a tombstone.
    pub(super) fn pick(&mut self, edge: usize, key: TokenKey) -> Option<usize> {
        let at = self.edges[edge].iter().position(|(on, _)| *on == key)?;
        Some(self.edges[edge].swap_remove(at).1)
    }

    /// A reader is done; whether it was the last.
    pub(super) fn read(&mut self, token: usize) -> bool {
        let state = &mut self.tokens[token];
        state.readers = state.readers.saturating_sub(1);
        state.readers == 0
    }

    pub(super) fn token(&self, token: usize) -> &Token {
        &self.tokens[token]
    }

    /// The slot is home, or its memory is the kernel's again.
    pub(super) fn release(&mut self, token: usize) -> Claim {
        let bytes = self.tokens[token].bytes;
        self.live_bytes -= bytes;
        self.free.push(token);
        std::mem::take(&mut self.tokens[token].hold)
    }

    pub(super) fn peak_bytes(&self) -> f64 {
        self.peak_bytes
    }
}
