package result

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// wordSize marks counts of 64 bits in the cookies of HdrHistogram's V2 encoding.
const wordSize = 0x10

// packer packs buckets. It takes more than a megabyte, nearly all of it for the compressor.
type packer struct {
	zlib   *zlib.Writer
	counts []byte
	packed bytes.Buffer
}

// packers saves each of the many histograms of a result a compressor of its own, which the library allocates.
var packers = sync.Pool{New: func() any {
	p := &packer{}
	// The level is a valid one, so there is no error.
	p.zlib, _ = zlib.NewWriterLevel(&p.packed, zlib.BestCompression)
	return p
}}

// packBuckets returns buckets with the given counts in HdrHistogram's V2 compressed format: the same bytes
// as of hdrhistogram.Histogram.Encode, but not in base64. They have the whole geometry, so that other programs
// can merge them without loss.
func packBuckets(counts []int64) ([]byte, error) {
	p := packers.Get().(*packer)
	defer packers.Put(p)
	p.counts = appendCounts(p.counts[:0], counts)
	p.packed.Reset()
	p.packed.Write(make([]byte, cookieAndLength))
	p.zlib.Reset(&p.packed)
	err := binary.Write(p.zlib, binary.BigEndian, bucketsHeader{
		Cookie:        hdrhistogram.V2EncodingCookieBase | wordSize,
		PayloadLength: int32(len(p.counts)),
		Digits:        SignificantDigits,
		Lowest:        LowestMicroseconds,
		Highest:       HighestMicroseconds,
		Ratio:         1,
	})
	if err != nil {
		return nil, err
	}
	if _, err := p.zlib.Write(p.counts); err != nil {
		return nil, err
	}
	if err := p.zlib.Close(); err != nil {
		return nil, err
	}
	packed := slices.Clone(p.packed.Bytes())
	binary.BigEndian.PutUint32(packed, uint32(hdrhistogram.V2CompressedEncodingCookieBase|wordSize))
	binary.BigEndian.PutUint32(packed[4:], uint32(len(packed)-cookieAndLength))
	return packed, nil
}

// appendCounts appends counts up to the last that isn't 0. Two or more zeros in a row are one negative number.
func appendCounts(to []byte, counts []int64) []byte {
	zeros := int64(0)
	for _, n := range counts {
		if n == 0 {
			zeros++
			continue
		}
		switch zeros {
		case 0:
		case 1:
			to = appendNumber(to, 0)
		default:
			to = appendNumber(to, -zeros)
		}
		zeros = 0
		to = appendNumber(to, n)
	}
	return to
}

// appendNumber appends a number in HdrHistogram's ZigZag LEB128-64b9B coding: 7 bits in each byte, the lowest first, and
// 8 in the ninth.
func appendNumber(to []byte, n int64) []byte {
	rest := uint64(n<<1 ^ n>>63)
	for range 8 {
		if rest < 0x80 {
			return append(to, byte(rest))
		}
		to = append(to, byte(rest)|0x80)
		rest >>= 7
	}
	return append(to, byte(rest))
}
