package result

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// maxPackedBytes bounds encoded buckets. It is far more than any take.
	maxPackedBytes = 128 << 10
	// cookieAndLength is the length of what precedes compressed buckets.
	cookieAndLength = 8
	// subBucketBits is the binary logarithm of the number of buckets of each width but the narrowest, which has
	// twice as many: the smallest power of two that gives three significant digits.
	subBucketBits = 10
)

// bucketsHeader is the header of buckets in HdrHistogram's V2 encoding.
type bucketsHeader struct {
	Cookie, PayloadLength, IndexOffset, Digits int32
	Lowest, Highest                            int64
	Ratio                                      float64
}

// encodedBuckets describes encoded buckets.
type encodedBuckets struct {
	total       int64
	first, last int   // the indexes of the first and the last bucket that isn't empty
	highest     int64 // the highest value that the buckets cover
}

// unpacker unpacks encoded buckets.
type unpacker struct {
	source  bytes.Reader
	zlib    io.ReadCloser
	payload bytes.Buffer
	counts  []int64 // all 0 but for those that scan adds, and its caller takes
}

var unpackers = sync.Pool{New: func() any { return &unpacker{} }}

// checkBuckets describes buckets in the V2 compressed format. It returns an error for what the
// library rejects, for another geometry than this package's, and for more than maxCount durations.
// What it allocates doesn't depend on the buckets.
func checkBuckets(hdr []byte) (encodedBuckets, error) {
	u := unpackers.Get().(*unpacker)
	defer unpackers.Put(u)
	return u.scan(hdr, false)
}

// eachBucket calls add for each bucket that isn't empty, with its lowest value and its count. The buckets are those that
// checkBuckets has accepted. It allocates no buckets.
func eachBucket(hdr []byte, add func(microseconds, count int64)) {
	u := unpackers.Get().(*unpacker)
	defer unpackers.Put(u)
	b, err := u.scan(hdr, true)
	if err != nil {
		clear(u.counts)
		return // cannot happen: Encode wrote it, or Decode checked it
	}
	for i := max(b.first, 0); i <= b.last; i++ {
		if n := u.counts[i]; n > 0 {
			add(lowestOf(i, subBucketBits), n)
			u.counts[i] = 0
		}
	}
}

// scan describes buckets as checkBuckets does, and adds their counts to u.counts if they are wanted.
func (u *unpacker) scan(hdr []byte, wanted bool) (encodedBuckets, error) {
	if len(hdr) < cookieAndLength || len(hdr) > maxPackedBytes ||
		int64(binary.BigEndian.Uint32(hdr[4:])) != int64(len(hdr)-cookieAndLength) {
		return encodedBuckets{}, fmt.Errorf("buckets of %d bytes are cut off, too large or followed by others", len(hdr))
	}
	if cookie := int32(binary.BigEndian.Uint32(hdr)); cookie&^0xf0 != hdrhistogram.V2CompressedEncodingCookieBase {
		return encodedBuckets{}, fmt.Errorf("unknown encoding %#x", cookie)
	}
	header, err := u.unpack(hdr[cookieAndLength:])
	if err != nil {
		return encodedBuckets{}, err
	}
	buckets, into := bucketOf(header.Highest, header.Highest)+1, []int64(nil)
	if wanted {
		if len(u.counts) < buckets {
			u.counts = make([]int64, buckets)
		}
		into = u.counts
	}
	described, err := scanBuckets(u.payload.Bytes(), buckets, into)
	described.highest = header.Highest
	return described, err
}

// unpack reads the header and the payload.
func (u *unpacker) unpack(compressed []byte) (header bucketsHeader, err error) {
	u.source.Reset(compressed)
	u.payload.Reset()
	if u.zlib == nil {
		u.zlib, err = zlib.NewReader(&u.source)
	} else {
		err = u.zlib.(zlib.Resetter).Reset(&u.source, nil)
	}
	if err != nil {
		return header, err
	}
	if err := binary.Read(u.zlib, binary.BigEndian, &header); err != nil {
		return header, err
	}
	if header.Lowest != LowestMicroseconds || header.Highest < 2*LowestMicroseconds || header.Highest > HighestMicroseconds || header.Digits != SignificantDigits {
		return header, fmt.Errorf("geometry %d to %d with %d digits, want %d to %d with %d",
			header.Lowest, header.Highest, header.Digits, LowestMicroseconds, HighestMicroseconds, SignificantDigits)
	}
	most := int64(binary.MaxVarintLen64 * (bucketOf(header.Highest, header.Highest) + 1))
	if header.Cookie&^0xf0 != hdrhistogram.V2EncodingCookieBase || header.PayloadLength < 0 || int64(header.PayloadLength) > most {
		return header, fmt.Errorf("unknown encoding %#x, or %d bytes of counts", header.Cookie, header.PayloadLength)
	}
	if n, err := u.payload.ReadFrom(io.LimitReader(u.zlib, most+1)); err != nil || n != int64(header.PayloadLength) {
		return header, fmt.Errorf("%d bytes of counts, want %d: %w", n, header.PayloadLength, err)
	}
	if u.source.Len() != 0 {
		return header, errors.New("buckets are followed by other bytes")
	}
	return header, nil
}

// scanBuckets reads counts, which are positive, and numbers of empty buckets, which are negative. It adds the counts
// to those in into, unless that is nil. It returns an error for more than the given number of buckets, and for more
// than maxCount durations.
func scanBuckets(payload []byte, buckets int, into []int64) (encodedBuckets, error) {
	b := encodedBuckets{first: -1}
	for at := 0; len(payload) > 0; {
		n, size := binary.Varint(payload)
		// In 9 bytes, HdrHistogram's numbers differ from Go's. None of these counts needs as many.
		if size < 1 || size > 8 || n > maxCount || -n > int64(buckets-at) || n >= 0 && at >= buckets {
			return b, fmt.Errorf("count %d in bucket %d of %d", n, at, buckets)
		}
		payload = payload[size:]
		if n < 0 {
			at -= int(n)
			continue
		}
		if n > 0 {
			if b.total += n; b.total > maxCount {
				return b, fmt.Errorf("more than %d durations", int64(maxCount))
			}
			if b.first < 0 {
				b.first = at
			}
			b.last = at
			if into != nil {
				into[at] += n
			}
		}
		at++
	}
	return b, nil
}

// bucketOf returns the index of the bucket of a value, which is clamped to 0 and highest.
func bucketOf(microseconds, highest int64) int {
	return bucketIndex(min(max(microseconds, 0), highest), subBucketBits)
}

// bucketIndex returns the index of the bucket of a value that isn't negative, if there are two to the power of subBits
// buckets of each width but the narrowest, which has twice as many.
func bucketIndex(microseconds int64, subBits int) int {
	width := max(bits.Len64(uint64(microseconds))-subBits-1, 0)
	return width<<subBits + int(microseconds>>width)
}

// lowestOf returns the lowest value of a bucket. It is the inverse of bucketIndex.
func lowestOf(index, subBits int) int64 {
	width := max(index>>subBits-1, 0)
	return int64(index-width<<subBits) << width
}

// maxCount and maxSum bound the count and the sum of a histogram that comes from elsewhere.
const (
	maxCount = 1 << 53
	maxSum   = 1 << 62
)
