//! Validity of a certificate (RFC 5280 §4.1.2.5), read from its DER. It must not know whether anybody trusts it.

/// Maximum time before expiry at which a certificate counts as about to expire, seconds.
const NEAR_END_S_MAX: i64 = 14 * 24 * 3600;

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;

/// Start and end of a certificate's validity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Beginning, seconds of Unix time.
    pub not_before_unix_s: i64,
    /// End, seconds of Unix time.
    pub not_after_unix_s: i64,
}

impl Validity {
    /// The validity of this certificate; `None` where the bytes are no certificate.
    pub fn of(der: &[u8]) -> Option<Self> {
        let mut certificate = Reader(Reader(der).take(SEQUENCE)?);
        let mut signed = Reader(certificate.take(SEQUENCE)?);
        // Version 1 certificates name no version.
        if signed.0.first() == Some(&VERSION) {
            signed.take(VERSION)?;
        }
        signed.take(INTEGER)?;
        let (_algorithm, _issuer) = (signed.take(SEQUENCE)?, signed.take(SEQUENCE)?);
        let mut validity = Reader(signed.take(SEQUENCE)?);
        Some(Validity { not_before_unix_s: validity.time()?, not_after_unix_s: validity.time()? })
    }

    /// Whole lifetime of the certificate, seconds.
    pub fn lifetime_s(&self) -> i64 {
        (self.not_after_unix_s - self.not_before_unix_s).max(0)
    }

    /// Seconds until the certificate expires; negative where it has.
    pub fn left_s(&self, now_unix_s: i64) -> i64 {
        self.not_after_unix_s - now_unix_s
    }

    /// Whether a sixth of the lifetime is left at most, or 14 days: clients of ACME renew much earlier.
    pub fn is_near_end(&self, now_unix_s: i64) -> bool {
        self.left_s(now_unix_s) < (self.lifetime_s() / 6).min(NEAR_END_S_MAX)
    }
}

/// Rest of some DER.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The content of the next element, if it has this tag.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, content) = self.any()?;
        (found == tag).then_some(content)
    }

    fn any(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            // A certificate of 4 GiB is none.
            let count = usize::from(first & 0x7f);
            let (bytes, rest) = rest.split_at_checked(count).filter(|_| (1..=4).contains(&count))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    fn time(&mut self) -> Option<i64> {
        let (tag, text) = self.any()?;
        let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (year, rest) = match tag {
            // RFC 5280 §4.1.2.5.1: 50 to 99 are of the 20th century.
            UTC_TIME => {
                let (year, rest) = text.split_at_checked(2)?;
                let year: i64 = year.parse().ok()?;
                (if year < 50 { 2000 + year } else { 1900 + year }, rest)
            }
            GENERALIZED_TIME => {
                let (year, rest) = text.split_at_checked(4)?;
                (year.parse().ok()?, rest)
            }
            _ => return None,
        };
        if rest.len() != 10 {
            return None;
        }
        let part = |at: usize| rest.get(at..at + 2)?.parse::<i64>().ok();
        let (month, day, hour, minute, second) = (part(0)?, part(2)?, part(4)?, part(6)?, part(8)?);
        let is_time = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
        is_time.then(|| days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
    }
}

/// Days from 1970-01-01 to this date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have the leap day at their end.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate(from: (i32, u8, u8), to: (i32, u8, u8)) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["shop.example".to_owned()]).unwrap();
        params.not_before = date_time_ymd(from.0, from.1, from.2);
        params.not_after = date_time_ymd(to.0, to.1, to.2);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn validity_is_read_from_both_forms_of_time() {
        let found = Validity::of(&certificate((2024, 2, 29), (2024, 5, 29))).unwrap();
        assert_eq!(found, Validity { not_before_unix_s: 1_709_164_800, not_after_unix_s: 1_716_940_800 });
        assert_eq!(found.lifetime_s(), 90 * 86_400);
        let found = Validity::of(&certificate((1975, 1, 1), (4096, 1, 1))).unwrap();
        assert_eq!(found, Validity { not_before_unix_s: 157_766_400, not_after_unix_s: 67_090_118_400 });
    }

    #[test]
    fn an_end_is_near_when_renewal_is_long_overdue() {
        let validity = |days: i64| Validity { not_before_unix_s: 0, not_after_unix_s: days * 86_400 };
        let near_days =
            |lifetime: i64| (0..lifetime).filter(|day| validity(lifetime).is_near_end(day * 86_400)).count();
        assert_eq!(near_days(90), 13);
        assert_eq!(near_days(6), 0);
        assert!(validity(6).is_near_end(6 * 86_400 - 80_000));
        assert_eq!(near_days(3_650), 13);
        assert!(validity(90).is_near_end(100 * 86_400), "it has expired");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), at in 0_usize..400, by: u8) {
            let _ = Validity::of(&bytes);
            let mut changed = certificate((2024, 2, 29), (2024, 5, 29));
            let at = at.min(changed.len() - 1);
            changed[at] ^= by;
            let _ = Validity::of(&changed);
            let _ = Validity::of(&changed[..at]);
        }
    }
}
