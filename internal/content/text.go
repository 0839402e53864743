package content

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// words are frequent words of English. Drawn at random, they compress as text does, to about a third.
var words = strings.Fields(`the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which
one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other
time new some could these two may first then do any like my now over such our man me even most made after also did many off before must well back
through years where much your way down should because long each just state those people too little good how world very year still work own three
never life between under same last another know while since high against day place might great again around without came part come right number
water however set small use every end found until head house need home does group during side system always number course service order public
point general name better form second light given large several early often program country power public change within interest company family
question present child school study number early member service report business important different possible government development information
section paragraph article chapter document page result value table figure reader writer measure request response server client network connection`)

// lineBytes is the length from which a line ends at the next word.
const lineBytes = 72

// text is an endless reader of words, drawn by random bytes.
type text struct {
	random io.Reader
	line   bytes.Buffer
}

// Read implements io.Reader.
func (t *text) Read(out []byte) (int, error) {
	for t.line.Len() < len(out) {
		var drawn [2]byte
		for length := 0; length < lineBytes; {
			if _, err := io.ReadFull(t.random, drawn[:]); err != nil {
				return 0, err
			}
			word := words[int(binary.LittleEndian.Uint16(drawn[:]))%len(words)]
			t.line.WriteString(word + " ")
			length += len(word) + 1
		}
		t.line.WriteByte('\n')
	}
	return t.line.Read(out)
}
