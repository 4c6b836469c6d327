//! Two stages whose tokens carry their own key: a hand-over that went wrong shows in the output.

use pipeline_runtime::error::StageError;
use pipeline_runtime::job::{Job, Sizes};
use pipeline_runtime::tags::Tags;

use crate::capability::DeallocPermit;
use crate::exec::firing::Firing;
use crate::slot::{Dead, Shared, Token};
use crate::stage::{DeallocStage, Port, Stage};

/// A job of so many partitions, whose firing of the source for one of them may fail.
pub struct Work {
    pub partitions: u32,
    pub fails_on: Option<u32>,
}

impl Job for Work {
    fn partitions(&self) -> u32 {
        self.partitions
    }
    fn sizes(&self) -> Sizes {
        Sizes::default()
    }
}

/// A token; what was wiped or never written is [`Word::NOTHING`].
#[derive(Debug)]
pub struct Word(pub u32);

impl Word {
    pub const NOTHING: u32 = u32::MAX;
}

impl Token for Word {
    const NAME: &'static str = "Word";
    type Shape = ();
    fn with_shape((): &()) -> Self {
        Self(Self::NOTHING)
    }
    fn shape(&self) {}
    fn bytes(&self) -> u64 {
        4
    }
    fn wipe(&mut self) {
        self.0 = Self::NOTHING;
    }
}

pub struct Source;

impl Stage for Source {
    type Job = Work;
    type In = ();
    type Out = Word;
    type Pending = ();
    const NAME: &'static str = "source";
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::NONE;
    const PORTS: &'static [Port] = &[];

    fn start(firing: &Firing<'_, Self>, (): &()) -> Result<(), StageError> {
        match firing.job().fails_on == Some(firing.key().partition) {
            true => Err(StageError::new("as told")),
            false => Ok(()),
        }
    }

    fn finish(firing: &Firing<'_, Self>, (): &(), (): ()) -> Result<Word, StageError> {
        let mut word = firing.slot().take(&());
        assert_eq!(word.0, Word::NOTHING, "a slot that comes again was wiped");
        word.0 = firing.key().partition;
        Ok(word)
    }
}

pub struct Sink;

impl Stage for Sink {
    type Job = Work;
    type In = (Shared<Word>,);
    type Out = Word;
    type Pending = ();
    const NAME: &'static str = "sink";
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::NONE;
    const PORTS: &'static [Port] = &[];

    fn start(firing: &Firing<'_, Self>, (word,): &Self::In) -> Result<(), StageError> {
        assert_eq!(word.0, firing.key().partition, "the token is the key's own");
        Ok(())
    }

    fn finish(_: &Firing<'_, Self>, (word,): &Self::In, (): ()) -> Result<Word, StageError> {
        Ok(Word(word.0))
    }
}

/// Sends slots home.
pub struct Home;

impl DeallocStage for Home {
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::UNMAPS;

    fn dealloc(dead: Dead, _: &DeallocPermit) -> Result<(), StageError> {
        dead.go_home();
        Ok(())
    }
}
