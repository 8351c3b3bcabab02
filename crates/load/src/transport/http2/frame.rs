//! Frames (RFC 9113 sections 4 and 6).

/// Octets of a frame's header.
pub const HEADER_LEN: usize = 9;

/// Longest payload that is taken, the least that SETTINGS_MAX_FRAME_SIZE permits.
pub const MAX_PAYLOAD: usize = 16_384;

/// Octets of a parameter of SETTINGS.
pub const PARAMETER_LEN: usize = 6;

/// Largest size of a window, and largest stream identifier.
pub const MAX_31_BITS: u32 = 0x7fff_ffff;

/// What a client begins with (RFC 9113 section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

/// Flag of SETTINGS and PING.
pub const ACK: u8 = 0x01;
/// Flag of DATA and HEADERS.
pub const END_STREAM: u8 = 0x01;
/// Flag of HEADERS and CONTINUATION.
pub const END_HEADERS: u8 = 0x04;
/// Flag of DATA and HEADERS.
pub const PADDED: u8 = 0x08;
/// Flag of HEADERS.
pub const WITH_PRIORITY: u8 = 0x20;

pub const SETTINGS_HEADER_TABLE_SIZE: u16 = 1;
pub const SETTINGS_ENABLE_PUSH: u16 = 2;
pub const SETTINGS_MAX_CONCURRENT_STREAMS: u16 = 3;
pub const SETTINGS_INITIAL_WINDOW_SIZE: u16 = 4;
pub const SETTINGS_MAX_FRAME_SIZE: u16 = 5;

/// Error codes (RFC 9113 section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    NoError = 0,
    Protocol = 1,
    FlowControl = 3,
    FrameSize = 6,
    Cancel = 8,
    Compression = 9,
    EnhanceYourCalm = 11,
}

/// A whole frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'o> {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: &'o [u8],
}

impl<'o> Frame<'o> {
    /// The frame at the beginning of `octets`, and what follows it; `None` if it is not whole.
    ///
    /// # Errors
    /// [`ErrorCode::FrameSize`], as soon as its length is there.
    pub fn split_off(octets: &'o [u8]) -> Result<Option<(Self, &'o [u8])>, ErrorCode> {
        let Some((header, rest)) = octets.split_first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let Some((payload, rest)) = rest.split_at_checked(payload_len(header)?) else {
            return Ok(None);
        };
        let [_, _, _, kind, flags, stream @ ..] = *header;
        let frame = Self {
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & MAX_31_BITS,
            payload,
        };
        Ok(Some((frame, rest)))
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The payload without padding.
    ///
    /// # Errors
    /// [`ErrorCode::Protocol`] if the padding is as long as the payload (RFC 9113 section 6.1).
    pub fn unpadded(&self) -> Result<&'o [u8], ErrorCode> {
        if !self.has(PADDED) {
            return Ok(self.payload);
        }
        let (&padding, payload) = self.payload.split_first().ok_or(ErrorCode::FrameSize)?;
        let len = payload.len().checked_sub(usize::from(padding));
        len.map(|len| &payload[..len]).ok_or(ErrorCode::Protocol)
    }

    /// The payload of HEADERS without padding and priority.
    ///
    /// # Errors
    /// As [`Self::unpadded`], and [`ErrorCode::FrameSize`].
    pub fn block(&self) -> Result<&'o [u8], ErrorCode> {
        let payload = self.unpadded()?;
        if self.has(WITH_PRIORITY) {
            payload.get(5..).ok_or(ErrorCode::FrameSize)
        } else {
            Ok(payload)
        }
    }

    /// The payload, which has to have `N` octets.
    ///
    /// # Errors
    /// [`ErrorCode::FrameSize`]
    pub fn fixed<const N: usize>(&self) -> Result<[u8; N], ErrorCode> {
        self.payload.try_into().map_err(|_| ErrorCode::FrameSize)
    }
}

fn payload_len(header: &[u8; HEADER_LEN]) -> Result<usize, ErrorCode> {
    let len = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
    if len > MAX_PAYLOAD {
        return Err(ErrorCode::FrameSize);
    }
    Ok(len)
}

/// Moves octets from `octets` to `partial`, the beginning of a frame, until the frame is whole. Gives back the rest.
///
/// # Errors
/// [`ErrorCode::FrameSize`], as soon as its length is there.
pub fn complete<'o>(partial: &mut Vec<u8>, mut octets: &'o [u8]) -> Result<&'o [u8], ErrorCode> {
    let mut move_up_to = |partial: &mut Vec<u8>, len: usize| {
        let missing = len.saturating_sub(partial.len()).min(octets.len());
        let (now, later) = octets.split_at(missing);
        partial.extend_from_slice(now);
        octets = later;
    };
    move_up_to(partial, HEADER_LEN);
    if let Some(header) = partial.first_chunk() {
        let len = HEADER_LEN + payload_len(header)?;
        move_up_to(partial, len);
    }
    Ok(octets)
}

/// Appends a frame's header.
pub fn append_header(octets: &mut Vec<u8>, len: usize, kind: u8, flags: u8, stream: u32) {
    let mut header = [0; HEADER_LEN];
    header[..4].copy_from_slice(&((len as u32) << 8 | u32::from(kind)).to_be_bytes());
    header[4] = flags;
    header[5..].copy_from_slice(&stream.to_be_bytes());
    octets.extend_from_slice(&header);
}

/// Sets the length of the frame whose header `octets` begin with.
pub fn set_len(octets: &mut [u8], len: usize) {
    octets[..3].copy_from_slice(&(len as u32).to_be_bytes()[1..]);
}

/// Appends a frame.
pub fn append(octets: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    append_header(octets, payload.len(), kind, flags, stream);
    octets.extend_from_slice(payload);
}

/// Appends a parameter of SETTINGS.
pub fn append_parameter(payload: &mut Vec<u8>, parameter: u16, value: u32) {
    payload.extend_from_slice(&parameter.to_be_bytes());
    payload.extend_from_slice(&value.to_be_bytes());
}
