//! One entry of the log, as the server has it.

use sluice_catalog::snapshot::Purge;

use crate::resp::Reply;

/// The id of an entry: milliseconds of the server, and a number. The server gives none that is not higher than all before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) ms: u64,
    pub(crate) number: u64,
}

impl Id {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (ms, number) = text.split_once('-')?;
        Some(Id { ms: ms.parse().ok()?, number: number.parse().ok()? })
    }

    /// The highest one before it; there is none before the first.
    pub(super) fn before(self) -> Option<Self> {
        match self.number.checked_sub(1) {
            Some(number) => Some(Id { number, ..self }),
            None => self.ms.checked_sub(1).map(|ms| Id { ms, number: u64::MAX }),
        }
    }

    /// The lowest one after it.
    pub(crate) fn next(self) -> Self {
        match self.number.checked_add(1) {
            Some(number) => Id { number, ..self },
            None => Id { ms: self.ms.saturating_add(1), number: 0 },
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.ms, self.number)
    }
}

/// Kinds of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The log begins here: what was before is not known any more.
    Begin,
    /// The server's clock was set back: nothing that was stored before may be used, as its age is not known.
    Clock,
    All,
    Url(Box<str>),
    Prefix(Box<str>),
    Tag(Box<str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: Id,
    pub(crate) log: u64,
    /// The gateway that it is from.
    pub(crate) origin: u64,
    pub(crate) kind: Kind,
    pub(crate) is_soft: bool,
}

impl Kind {
    pub(crate) fn of(purge: &Purge) -> Self {
        match purge {
            Purge::All => Kind::All,
            Purge::Url(url) => Kind::Url(url.as_str().into()),
            Purge::Prefix(prefix) => Kind::Prefix(prefix.as_str().into()),
            Purge::Tag(tag) => Kind::Tag(tag.as_str().into()),
        }
    }

    /// Name of the kind, and its subject.
    pub(crate) fn words(&self) -> (&'static str, &str) {
        match self {
            Kind::Begin => ("begin", ""),
            Kind::Clock => ("clock", ""),
            Kind::All => ("all", ""),
            Kind::Url(url) => ("url", url),
            Kind::Prefix(prefix) => ("prefix", prefix),
            Kind::Tag(tag) => ("tag", tag),
        }
    }

    fn read(name: &str, about: &str) -> Option<Self> {
        Some(match name {
            "begin" => Kind::Begin,
            "clock" => Kind::Clock,
            "all" => Kind::All,
            "url" => Kind::Url(about.into()),
            "prefix" => Kind::Prefix(about.into()),
            "tag" => Kind::Tag(about.into()),
            _ => return None,
        })
    }
}

impl Entry {
    /// Purge of pages in memory.
    pub(super) fn purge(&self) -> Option<Purge> {
        Some(match &self.kind {
            Kind::Begin | Kind::Clock => return None,
            Kind::All => Purge::All,
            Kind::Url(url) => Purge::Url(url.to_string()),
            Kind::Prefix(prefix) => Purge::Prefix(prefix.to_string()),
            Kind::Tag(tag) => Purge::Tag(tag.to_string()),
        })
    }

    /// Memory that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.kind.words().1.len()
    }

    /// An entry of a reply to `XRANGE`: its id, and fields with their values.
    pub(super) fn read(reply: &Reply) -> Option<Self> {
        let [id, fields] = reply.list()? else { return None };
        let fields = fields.list()?;
        let value = |name: &str| {
            let (pairs, _) = fields.as_chunks::<2>();
            pairs.iter().find(|pair| pair[0].str() == Some(name))?[1].str()
        };
        let kind = Kind::read(value("kind")?, value("about")?);
        Some(Entry {
            id: Id::parse(id.str()?)?,
            log: u64::from_str_radix(value("log")?, 16).ok()?,
            origin: u64::from_str_radix(value("from")?, 16).ok()?,
            is_soft: kind.is_some() && value("soft")? == "1",
            // A later version may purge what this one has no word for.
            kind: kind.unwrap_or(Kind::All),
        })
    }
}
