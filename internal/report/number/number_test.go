package number

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Significant(4509.7): "4,510", Significant(93.84): "93.8", Significant(0.05123): "0.0512", Significant(0): "0", Significant(-3.5): "−3.50",
		Significant(999.96): "1,000", Significant(1234567): "1,230,000", Significant(math.NaN()): "-",
		Share(1, 100_000): "<0.01%", Share(99_999, 100_000): ">99.99%", Share(0, 5): "0%", Share(5, 5): "100%", Share(1, 8): "12.5%", Share(1, 500): "0.20%",
		Count(1234567): "1,234,567", Percent(53.4): "53%", Percent(0.2): "<1%", Milliseconds(5520): "5.52",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
