//! How far the I/Os per second of a drive that nobody measured may lie from the prediction, by commands in
//! the drive: nine of ten further drives are between. `python tools/firmware_classes.py --write` writes this
//! file.
use super::class::Bounds;

/// Drives whose access time was measured, and drives whose gain was.
pub const DRIVES: (usize, usize) = (13, 8);

/// Unknown is the access time, with an order that is known.
pub const SEEK: [Bounds; 1] = [Bounds { depth: 1, low: 0.80, high: 1.12 }];

/// Unknown is the gain, with an access time that is known.
pub const GAIN: [Bounds; 6] = [
    Bounds { depth: 1, low: 1.00, high: 1.00 },
    Bounds { depth: 2, low: 0.89, high: 1.16 },
    Bounds { depth: 4, low: 0.84, high: 1.22 },
    Bounds { depth: 8, low: 0.78, high: 1.20 },
    Bounds { depth: 16, low: 0.79, high: 1.22 },
    Bounds { depth: 32, low: 0.72, high: 1.23 },
];

/// Unknown is both: a drive of which a data sheet alone is known.
pub const BOTH: [Bounds; 6] = [
    Bounds { depth: 1, low: 0.80, high: 1.12 },
    Bounds { depth: 2, low: 0.79, high: 1.18 },
    Bounds { depth: 4, low: 0.76, high: 1.21 },
    Bounds { depth: 8, low: 0.72, high: 1.17 },
    Bounds { depth: 16, low: 0.72, high: 1.19 },
    Bounds { depth: 32, low: 0.67, high: 1.18 },
];

/// Unknown is the gain, with an inferred order that is not the class's.
pub const OTHER_GAIN: [Bounds; 6] = [
    Bounds { depth: 1, low: 1.00, high: 1.00 },
    Bounds { depth: 2, low: 0.89, high: 1.16 },
    Bounds { depth: 4, low: 0.71, high: 1.22 },
    Bounds { depth: 8, low: 0.62, high: 1.20 },
    Bounds { depth: 16, low: 0.60, high: 1.22 },
    Bounds { depth: 32, low: 0.59, high: 1.23 },
];

/// Unknown is both, with such an order.
pub const OTHER_BOTH: [Bounds; 6] = [
    Bounds { depth: 1, low: 0.80, high: 1.12 },
    Bounds { depth: 2, low: 0.79, high: 1.18 },
    Bounds { depth: 4, low: 0.64, high: 1.21 },
    Bounds { depth: 8, low: 0.58, high: 1.17 },
    Bounds { depth: 16, low: 0.56, high: 1.19 },
    Bounds { depth: 32, low: 0.54, high: 1.18 },
];
