//! The rules of I5, for each thing that can be known of a request whose worker has died.

use sluice_catalog::errors::Code;
use sluice_dispatch::{ByteEvidence, Cause, Fate, Judgement, QuarantineRule, fate};

const NOTHING: ByteEvidence = ByteEvidence::NOTHING;
const SENT: ByteEvidence = ByteEvidence { sent: true, heard: false, unread: false };
const HEARD: ByteEvidence = ByteEvidence { sent: true, heard: true, unread: false };

fn judged(is_safe: bool, was_shared: bool, held: Option<QuarantineRule>) -> Judgement {
    Judgement { is_safe, was_shared, was_parked: false, held, deaths: 1 }
}

fn get(seen: ByteEvidence, cause: Cause, was_retried: bool, held: Option<QuarantineRule>) -> Fate {
    fate(seen, cause, was_retried, judged(true, false, held))
}

#[test]
fn i5_a_safe_request_without_a_byte_of_an_answer_gets_one_more_worker() {
    assert_eq!(get(SENT, Cause::Own, false, None), Fate::Again);
    assert_eq!(get(SENT, Cause::Gateway, false, None), Fate::Again);
    assert_eq!(get(SENT, Cause::Own, true, None), Fate::Fail(Code::WorkerDied));
    assert_eq!(get(HEARD, Cause::Own, false, None), Fate::Fail(Code::WorkerDied));
    assert_eq!(get(SENT, Cause::Stuck, false, None), Fate::Fail(Code::WorkerStuck));
}

#[test]
fn i5_neighbours_of_a_loop_get_one_more_worker_like_those_of_a_crash() {
    let neighbour = |is_safe, seen, was_retried| fate(seen, Cause::Stuck, was_retried, judged(is_safe, true, None));
    assert_eq!(neighbour(true, SENT, false), Fate::Again);
    assert_eq!(neighbour(true, SENT, true), Fate::Fail(Code::WorkerStuck));
    assert_eq!(neighbour(true, HEARD, false), Fate::Fail(Code::WorkerStuck));
    assert_eq!(neighbour(false, SENT, false), Fate::Fail(Code::WorkerStuck));
}

#[test]
fn i5_an_unsafe_request_gets_another_worker_only_if_none_saw_it() {
    let post = judged(false, false, None);
    assert_eq!(fate(SENT, Cause::Own, false, post), Fate::Fail(Code::WorkerDied));
    assert_eq!(fate(NOTHING, Cause::Own, false, post), Fate::Again);
    assert_eq!(fate(NOTHING, Cause::Stuck, true, post), Fate::Again);
}

#[test]
fn a_request_in_quarantine_gets_no_further_worker() {
    assert_eq!(get(SENT, Cause::Own, false, Some(QuarantineRule::Refused)), Fate::Fail(Code::RequestQuarantined));
    assert_eq!(get(NOTHING, Cause::Own, false, Some(QuarantineRule::Refused)), Fate::Fail(Code::RequestQuarantined));
    assert_eq!(get(SENT, Cause::Own, true, Some(QuarantineRule::Refused)), Fate::Fail(Code::WorkerDied));
    assert_eq!(get(HEARD, Cause::Own, false, Some(QuarantineRule::Refused)), Fate::Fail(Code::WorkerDied));
    assert_eq!(get(SENT, Cause::Own, false, Some(QuarantineRule::Probed)), Fate::Fail(Code::RequestQuarantined));
    assert_eq!(get(NOTHING, Cause::Own, false, Some(QuarantineRule::Probed)), Fate::Again, "no worker has seen it");
}
