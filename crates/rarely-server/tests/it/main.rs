//! The HTTP API as programs meet it, without a socket.

mod agreement;
mod contract;
mod error;
mod life;
mod limits;
mod many;
mod oddities;
mod restart;
mod roles;
mod support;
mod times;
