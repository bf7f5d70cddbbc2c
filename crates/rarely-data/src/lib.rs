//! Reads logs and data sets into records; draws the synthetic ones.
