//! Arrays as one run of words, which is what lies in device memory.

use crate::{error::AstError, tensors::AstTensors};

/// The first word: which layout this is.
const MAGIC: u32 = 0x4153_5431;
/// Words before the arrays.
pub const HEAD: usize = 4;
/// Arrays in the run, each as long as there are nodes.
const ARRAYS: usize = 10;

impl AstTensors {
    /// One run of words: a head (a number for this layout, nodes, levels, 0), then the arrays one after
    /// another, each a word a node: kinds, parents, first children, next siblings, depths, lower and
    /// upper halves of token hashes, starts, ends, and last the numbers of all nodes by depth, so that a
    /// kernel can go level by level.
    #[must_use]
    pub fn to_words(&self) -> Vec<u32> {
        let nodes = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let levels = u32::try_from(self.level_ends().len()).unwrap_or(u32::MAX);
        let mut words = Vec::with_capacity(HEAD + ARRAYS * self.len());
        words.extend([MAGIC, nodes, levels, 0]);
        let arrays = [
            &self.kinds,
            &self.parents,
            &self.first_children,
            &self.next_siblings,
            &self.depths,
        ];
        arrays.into_iter().for_each(|array| words.extend(array));
        words.extend(self.token_hashes.iter().map(|hash| hash[0]));
        words.extend(self.token_hashes.iter().map(|hash| hash[1]));
        words.extend(&self.starts);
        words.extend(&self.ends);
        words.extend(self.by_depth());
        words
    }

    /// The arrays of such a run.
    ///
    /// # Errors
    /// [`AstError::NoTree`]: another layout, another length, or no tree.
    pub fn from_words(words: &[u32]) -> Result<AstTensors, AstError> {
        const WRONG: AstError = AstError::NoTree("the words are of another layout or length");
        let (head, rest) = words.split_at_checked(HEAD).ok_or(WRONG)?;
        let nodes = head.get(1).map_or(0, |nodes| *nodes as usize);
        if head.first() != Some(&MAGIC) || nodes.checked_mul(ARRAYS) != Some(rest.len()) {
            return Err(WRONG);
        }
        let array = |number: usize| rest[number * nodes..(number + 1) * nodes].to_vec();
        let halves = array(5).into_iter().zip(array(6));
        let tensors = AstTensors {
            kinds: array(0),
            parents: array(1),
            first_children: array(2),
            next_siblings: array(3),
            depths: array(4),
            token_hashes: halves.map(|(low, high)| [low, high]).collect(),
            starts: array(7),
            ends: array(8),
        };
        tensors.validate()?;
        if array(9) != tensors.by_depth() || head[2] as usize != tensors.level_ends().len() {
            return Err(AstError::NoTree(
                "the order by depth is not as the depths say",
            ));
        }
        Ok(tensors)
    }

    /// For each depth, how many nodes are no deeper.
    #[must_use]
    pub fn level_ends(&self) -> Vec<u32> {
        let mut counts = Vec::new();
        for depth in &self.depths {
            let depth = *depth as usize;
            if counts.len() <= depth {
                counts.resize(depth + 1, 0_u32);
            }
            counts[depth] += 1;
        }
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        counts
    }

    /// Numbers of nodes by depth, those of one depth in the order of the text.
    fn by_depth(&self) -> Vec<u32> {
        let ends = self.level_ends();
        let mut next: Vec<u32> = std::iter::once(0).chain(ends).collect();
        let mut order = vec![0; self.len()];
        for (node, depth) in (0_u32..).zip(&self.depths) {
            let place = &mut next[*depth as usize];
            order[*place as usize] = node;
            *place += 1;
        }
        order
    }
}
