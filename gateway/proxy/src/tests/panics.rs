//! Faults of the gateway's own, here in what carries out actions on processes.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use sluice_supervisor::Gate as _;

use super::world::play;

#[test]
fn a_panic_in_one_action_leaves_the_others_of_its_step() {
    play(async |world| {
        world.gate.dispatch.scale(3);
        let _workers = [world.worker().await, world.worker().await, world.worker().await];
        let told = Rc::<RefCell<Vec<String>>>::default();
        let heard = Rc::clone(&told);
        world.gate.set_host(Rc::new(move |action| {
            heard.borrow_mut().push(format!("{action:?}"));
            assert!(heard.borrow().len() > 1, "a fault of the test's");
        }));
        assert!(catch_unwind(AssertUnwindSafe(|| world.gate.dispatch.stop_workers())).is_err());
        assert_eq!(told.borrow().len(), 1);
        world.gate.tick();
        let mut told = told.take();
        told.sort();
        assert_eq!(told, [1, 2, 3].map(|worker| format!("Stop {{ worker: WorkerId({worker}) }}")), "each once");
    });
}
