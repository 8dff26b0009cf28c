//! The room as others use it: the codec against noise, the engine against the simulator's own clock, power cuts, images.
mod bad_blocks;
mod codec;
mod crash;
mod folder;
mod images;
mod power;
mod replay;
mod restart;
mod rig;
mod shadow;
mod work;
