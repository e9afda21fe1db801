//! The scheduler's rules, one short story each: who gets a request, who is refused, how a worker lives and dies.

mod admission;
mod ahead;
mod alone;
mod boots;
mod choice;
mod corners;
mod held_back;
mod homes;
mod lanes;
mod lanes_shared;
mod life;
mod load;
mod order;
mod overdue;
mod parked;
mod parked_days;
mod recycle;
mod reload;
mod stage;
mod stuck;
mod trial;
mod warm_up;
