//! An InfiniBand subnet as management sees it: nodes with GUIDs, numbered ports, LIDs, links with width and speed.
//!
//! Generated fabrics and imported ones meet here: the subnet manager works on this, and
//! `ibnetdiscover` files are read into it and written from it.

use std::fmt;

/// A subnet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subnet {
    /// Switches and channel adapters, in the order of the file or generator.
    pub nodes: Vec<SubnetNode>,
    /// Links that are up.
    pub links: Vec<SubnetLink>,
}

/// What a node of a subnet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubnetKind {
    /// A switch; port 0 is its management port, with its LID.
    Switch,
    /// A host's channel adapter (HCA); each port has LIDs of its own and is one endpoint of the fabric.
    ChannelAdapter,
}

/// A switch or a channel adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubnetNode {
    /// Switch or channel adapter.
    pub kind: SubnetKind,
    /// Node GUID.
    pub guid: u64,
    /// System image GUID; 0 if unknown.
    pub system_guid: u64,
    /// PCI vendor of the device; 0 if unknown.
    pub vendor_id: u32,
    /// Device id; 0 if unknown.
    pub device_id: u32,
    /// Node description, e.g. `leaf0` or `gpu3 mlx5_0`.
    pub description: String,
    /// Physical ports, up or not; they are numbered from 1.
    pub n_ports: u8,
    /// Addresses: of a switch one entry for port 0, of a channel adapter one for each port that is up, by port number.
    pub addresses: Vec<PortAddress>,
    /// True: "enhanced port 0" (switches only).
    pub enhanced: bool,
}

/// LIDs of a port: `lid` to `lid + 2^lmc - 1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortAddress {
    /// Port number; 0 for a switch.
    pub port: u8,
    /// Port GUID; of a switch its node GUID.
    pub guid: u64,
    /// Base LID; 0 = not assigned.
    pub lid: u16,
    /// LID mask control, 0 to 7.
    pub lmc: u8,
}

/// A link between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubnetLink {
    /// The two ends: position in [`Subnet::nodes`] and port number (from 1).
    pub ends: [(u32, u8); 2],
    /// Lanes.
    pub width: Width,
    /// Signalling generation.
    pub speed: Speed,
}

/// Lanes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 1x.
    X1,
    /// 2x.
    X2,
    /// 4x.
    X4,
    /// 8x.
    X8,
    /// 12x.
    X12,
}

impl Width {
    /// All widths, narrow first.
    pub const ALL: [Self; 5] = [Self::X1, Self::X2, Self::X4, Self::X8, Self::X12];

    /// Number of lanes.
    #[must_use]
    pub fn lanes(self) -> u64 {
        match self {
            Self::X1 => 1,
            Self::X2 => 2,
            Self::X4 => 4,
            Self::X8 => 8,
            Self::X12 => 12,
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x", self.lanes())
    }
}

/// Signalling generations. Data rates are net of line coding (`InfiniBand` Architecture Specification; newer ones `[M 85 %]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speed {
    /// 2.5 Gb/s a lane, 8b/10b.
    Sdr,
    /// 5 Gb/s a lane, 8b/10b.
    Ddr,
    /// 10 Gb/s a lane, 8b/10b.
    Qdr,
    /// 10.3125 Gb/s a lane, 64b/66b.
    Fdr10,
    /// 14.0625 Gb/s a lane, 64b/66b.
    Fdr,
    /// 25.78125 Gb/s a lane, 64b/66b.
    Edr,
    /// 53.125 Gb/s a lane.
    Hdr,
    /// 106.25 Gb/s a lane.
    Ndr,
    /// 212.5 Gb/s a lane.
    Xdr,
}

impl Speed {
    /// All speeds, slow first.
    pub const ALL: [Self; 9] = [Self::Sdr, Self::Ddr, Self::Qdr, Self::Fdr10, Self::Fdr, Self::Edr, Self::Hdr, Self::Ndr, Self::Xdr];

    /// Name as subnet tools write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sdr => "SDR",
            Self::Ddr => "DDR",
            Self::Qdr => "QDR",
            Self::Fdr10 => "FDR10",
            Self::Fdr => "FDR",
            Self::Edr => "EDR",
            Self::Hdr => "HDR",
            Self::Ndr => "NDR",
            Self::Xdr => "XDR",
        }
    }

    /// Data rate of a lane (kb/s), net of line coding.
    #[must_use]
    pub fn lane_kbps(self) -> u64 {
        match self {
            Self::Sdr => 2_000_000,
            Self::Ddr => 4_000_000,
            Self::Qdr => 8_000_000,
            Self::Fdr10 => 10_000_000,
            // 14.0625 * 64/66
            Self::Fdr => 13_636_363,
            Self::Edr => 25_000_000,
            Self::Hdr => 50_000_000,
            Self::Ndr => 100_000_000,
            Self::Xdr => 200_000_000,
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Data rate of a link (kb/s).
#[must_use]
pub fn rate_kbps(width: Width, speed: Speed) -> u64 {
    width.lanes() * speed.lane_kbps()
}

/// Width and speed with exactly this data rate (kb/s), 4x if there is one.
#[must_use]
pub fn width_and_speed(kbps: u64) -> Option<(Width, Speed)> {
    let order = [Width::X4, Width::X1, Width::X2, Width::X8, Width::X12];
    order.into_iter().find_map(|w| Speed::ALL.into_iter().find(|s| rate_kbps(w, *s) == kbps).map(|s| (w, s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_4x_links() {
        let rates: Vec<u64> = Speed::ALL.iter().map(|s| rate_kbps(Width::X4, *s) / 100_000).collect();
        assert_eq!(rates, [80, 160, 320, 400, 545, 1000, 2000, 4000, 8000]);
    }

    #[test]
    fn a_rate_names_its_link() {
        assert_eq!(width_and_speed(400_000_000), Some((Width::X4, Speed::Ndr)));
        assert_eq!(width_and_speed(50_000_000), Some((Width::X1, Speed::Hdr)));
        assert_eq!(width_and_speed(123), None);
    }
}
