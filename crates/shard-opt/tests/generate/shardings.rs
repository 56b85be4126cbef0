//! Random meshes and shardings.

use super::Numbers;
use super::program::Dice;

/// A mesh of one to three axes.
#[derive(Clone, Debug)]
pub struct Mesh {
    sizes: Vec<u64>,
    /// Devices are in the opposite order.
    reversed: bool,
}

const AXES: [&str; 3] = ["x", "y", "z"];
const SIZES: [u64; 8] = [2, 4, 2, 3, 8, 1, 6, 5];
const MOST_DEVICES: u64 = 16;

impl Mesh {
    pub fn of(numbers: &Numbers) -> Mesh {
        let mut dice = Dice::new(numbers);
        let count = 1 + dice.below(3);
        let mut sizes = Vec::new();
        for _ in 0..count {
            let size = *dice.pick(&SIZES);
            let all: u64 = sizes.iter().product();
            sizes.push(if all * size > MOST_DEVICES { 2 } else { size });
        }
        while sizes.iter().product::<u64>() > MOST_DEVICES {
            sizes.pop();
        }
        Mesh { sizes, reversed: dice.chance(8) }
    }

    fn devices(&self) -> u64 {
        self.sizes.iter().product()
    }

    pub fn text(&self) -> String {
        let axes: Vec<String> =
            self.sizes.iter().zip(AXES).map(|(size, name)| format!("\"{name}\"={size}")).collect();
        let order = if self.reversed && self.devices() > 1 {
            let ids: Vec<String> = (0..self.devices()).rev().map(|id| id.to_string()).collect();
            format!(", device_ids=[{}]", ids.join(", "))
        } else {
            String::new()
        };
        format!("<[{}]{order}>", axes.join(", "))
    }

    /// The axes, and halves of those that have them, in a random order; none overlaps another.
    fn pieces(&self, dice: &mut Dice) -> Vec<String> {
        let mut pieces = Vec::new();
        for (&size, name) in self.sizes.iter().zip(AXES) {
            match (size, dice.below(4)) {
                (4 | 6 | 8, 3) => {
                    pieces.push(format!("\"{name}\":(1)2"));
                    pieces.push(format!("\"{name}\":(2){}", size / 2));
                }
                _ => pieces.push(format!("\"{name}\"")),
            }
        }
        for i in (1..pieces.len()).rev() {
            pieces.swap(i, dice.below(i + 1));
        }
        pieces
    }

    /// A sharding of a value of some rank: `<@mesh, [...]>`.
    pub fn sharding(&self, dice: &mut Dice, rank: usize) -> String {
        let mut pieces = self.pieces(dice).into_iter();
        let mut dims = Vec::new();
        for _ in 0..rank {
            let count = dice.below(3);
            let mut axes: Vec<String> = pieces.by_ref().take(count).collect();
            // The halves of one axis in their order would be the axis itself.
            let whole =
                |a: &str, b: &str| a.split(':').next() == b.split(':').next() && a.contains("(1)");
            if axes.len() == 2 && whole(&axes[0], &axes[1]) {
                axes.truncate(1);
            }
            if dice.chance(3) {
                axes.push("?".to_owned());
            }
            dims.push(format!("{{{}}}", axes.join(", ")));
        }
        format!("<@mesh, [{}]>", dims.join(", "))
    }

    /// The attribute of an argument or result, or nothing.
    pub fn argument(&self, dice: &mut Dice, rank: usize) -> String {
        if dice.chance(4) {
            return String::new();
        }
        format!(" {{sdy.sharding = #sdy.sharding{}}}", self.sharding(dice, rank))
    }
}
