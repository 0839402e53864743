package v1alpha1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// ArrivalRate is a number of requests per second with up to three decimals. In JSON it is a number, such as 100 or 0.5; here it is its
// text, since decimal fractions have no exact floats. Empty is 0.
//
// +kubebuilder:validation:Type=number
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=100000
// +kubebuilder:validation:XValidation:rule="double(int(self * 1000.0 + 0.5)) / 1000.0 == self",message="must have at most three decimals, such as 0.125"
type ArrivalRate string

// WholeRate returns a whole number of requests per second.
func WholeRate(perSecond int64) ArrivalRate { return ArrivalRate(strconv.FormatInt(perSecond, 10)) }

// Thousandths returns the rate in thousandths of a request per second, as whole numbers.
func (r ArrivalRate) Thousandths() int64 {
	perSecond, _ := strconv.ParseFloat(string(r), 64)
	return int64(math.Round(perSecond * 1000))
}

// MarshalJSON implements json.Marshaler.
func (r ArrivalRate) MarshalJSON() ([]byte, error) {
	if r == "" {
		return []byte("0"), nil
	}
	return json.Marshal(json.Number(r))
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *ArrivalRate) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	perSecond, err := strconv.ParseFloat(string(data), 64)
	if err != nil {
		return fmt.Errorf("arrival rate %s: must be a number", data)
	}
	*r = ArrivalRate(strconv.FormatFloat(perSecond, 'f', -1, 64))
	return nil
}
