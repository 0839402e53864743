package result

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCausesAddUp checks that the causes of clients are merged exactly: whatever is beyond the limits is in OtherCauses, and
// each kind adds up to its number.
func TestCausesAddUp(t *testing.T) {
	for _, distinct := range []int{0, 1, MaxCauses, MaxCauses + 1, maxCountedCauses, 3 * maxCountedCauses} {
		t.Run(fmt.Sprint(distinct), func(t *testing.T) {
			var clients []Client
			total := int64(0)
			for index := range 3 {
				c := Client{Index: index}
				var counted Causes
				for i := range distinct {
					n := int64(1 + (i*7+index)%5)
					if i == distinct-1 {
						n = 1000 // the last one to occur is the most frequent
					}
					counted.Count(ErrorReceive, Cause{Text: fmt.Sprintf("cause %d", i%(maxCountedCauses-1+index)), Count: n})
					total += n
				}
				c.Causes = counted.Limited()
				clients = append(clients, c)
			}
			var r Result
			r.AddClients(clients)
			list := r.Causes[ErrorReceive]
			sum := int64(0)
			for i, c := range list {
				sum += c.Count
				if i > 0 && c.Text != OtherCauses && c.Count > list[i-1].Count {
					t.Errorf("%+v after %+v", c, list[i-1])
				}
				if c.Text == OtherCauses && i != len(list)-1 {
					t.Errorf("the others are number %d of %d", i, len(list))
				}
			}
			if sum != total || len(list) != min(distinct, MaxCauses+1) {
				t.Errorf("%d causes of %d requests, want %d: %+v", len(list), sum, total, list)
			}
			for i := range r.Clients {
				if !cmp.Equal(r.Clients[i].Causes, Causes{}) {
					t.Errorf("client %d still has causes", i)
				}
			}
		})
	}
}

// TestEarliestExample checks that the example of a cause is the earliest one of all clients, with the client's index.
func TestEarliestExample(t *testing.T) {
	clients := []Client{{Index: 0}, {Index: 1}, {Index: 2}}
	for i, at := range []int64{30, 10, 20} {
		clients[i].Causes.Count(ErrorStatus, Cause{Text: "status 503", Count: 2, Example: &FailedRequest{Request: fmt.Sprintf("GET /%d", i), AtMicroseconds: at}})
	}
	var r Result
	r.AddClients(clients)
	want := Causes{ErrorStatus: {{Text: "status 503", Count: 6, Example: &FailedRequest{Request: "GET /1", Client: 1, AtMicroseconds: 10}}}}
	if diff := cmp.Diff(want, r.Causes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	data, err := json.Marshal(&r)
	var read Result
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if diff := cmp.Diff(want, read.Causes); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
