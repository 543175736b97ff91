//! Nodes that no simulated row has shown to differ so far.

use std::collections::HashMap;

/// A partition of nodes into classes of those that were equal, or each other's inverse, in every row simulated.
///
/// A node's polarity is its value in the very first row; two nodes of a class are equal where their polarities are,
/// else one is the other's inverse.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    polarity: Vec<bool>,
    /// The class of each node, or `ALONE`.
    class: Vec<u32>,
    /// The members of each class in ascending order, two or more, or none once a class was given up.
    members: Vec<Vec<u32>>,
}

const ALONE: u32 = u32::MAX;

impl Classes {
    /// All nodes in one class, given their values in the first 64 rows.
    pub(crate) fn new(values: &[u64]) -> Self {
        let mut classes = Self {
            polarity: values.iter().map(|value| value & 1 != 0).collect(),
            class: vec![0; values.len()],
            members: vec![(0..values.len() as u32).collect()],
        };
        classes.refine(values);
        classes
    }

    /// Splits the classes by the nodes' values in 64 more rows.
    pub(crate) fn refine(&mut self, values: &[u64]) {
        let normal =
            |node: u32| values[node as usize] ^ 0u64.wrapping_sub(u64::from(self.polarity[node as usize]));
        let mut parts: HashMap<u64, Vec<u32>> = HashMap::new();
        for class in 0..self.members.len() {
            let Some(&first) = self.members[class].first() else { continue };
            let value = normal(first);
            if self.members[class].iter().all(|&node| normal(node) == value) {
                continue;
            }
            parts.clear();
            let members = std::mem::take(&mut self.members[class]);
            for &node in &members {
                parts.entry(normal(node)).or_default().push(node);
            }
            // In the order of their first members, so that nothing depends on the order of a hash map.
            let mut parts: Vec<Vec<u32>> = parts.drain().map(|(_, part)| part).collect();
            parts.sort_unstable();
            let mut place = Some(class);
            for part in parts {
                if let [node] = part[..] {
                    self.class[node as usize] = ALONE;
                    continue;
                }
                let target = place.take().unwrap_or_else(|| {
                    self.members.push(Vec::new());
                    self.members.len() - 1
                });
                for &node in &part {
                    self.class[node as usize] = target as u32;
                }
                self.members[target] = part;
            }
        }
    }

    /// The lowest node of a node's class, where that is another, and whether it is the node's inverse.
    pub(crate) fn candidate(&self, node: usize) -> Option<(usize, bool)> {
        let class = self.class[node];
        if class == ALONE {
            return None;
        }
        let lowest = *self.members[class as usize].first()? as usize;
        (lowest < node).then(|| (lowest, self.polarity[lowest] != self.polarity[node]))
    }

    /// The nodes of a node's class that come before `end`, in ascending order; none when it is alone.
    pub(crate) fn members_before(&self, node: usize, end: usize) -> &[u32] {
        match self.class[node] {
            ALONE => &[],
            class => {
                let members = &self.members[class as usize];
                &members[..members.partition_point(|&member| (member as usize) < end)]
            }
        }
    }

    /// Whether two nodes of a class are each other's inverse.
    pub(crate) fn inverse(&self, node: usize, other: usize) -> bool {
        self.polarity[node] != self.polarity[other]
    }

    /// Takes a node out of its class: it is not to be asked for again.
    pub(crate) fn give_up(&mut self, node: usize) {
        let class = self.class[node];
        if class != ALONE {
            self.members[class as usize].retain(|&member| member as usize != node);
            self.class[node] = ALONE;
        }
    }
}
