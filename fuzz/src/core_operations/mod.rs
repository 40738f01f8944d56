//! Any order of inputs keeps the promises of an app's core.

mod samples;
mod step;
mod world;

use appduct_proto::testing::Choices;

use step::Step;
use world::World;

/// The most steps of one run.
const MAX_STEPS: usize = 400;

/// The first bytes choose how the backoff is drawn and whether there are pings, the others what happens.
pub fn target(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut world = World::new(u64::from(choices.byte()), choices.flag());
    for _ in 0..MAX_STEPS {
        if choices.are_over() {
            break;
        }
        world.take(Step::choose(&mut choices));
    }
    world.end();
}
