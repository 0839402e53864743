package plot

import (
	"math"
	"strconv"
)

// channels returns red, green and blue of "#rrggbb" as linear light from 0 to 1 (IEC 61966-2-1).
func channels(hex string) (rgb [3]float64) {
	for i := range rgb {
		value, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err) // a mistake in the palette
		}
		c := float64(value) / 255
		if c <= 0.04045 {
			rgb[i] = c / 12.92
		} else {
			rgb[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

// contrast returns the contrast ratio of two colors, from 1 to 21 (WCAG 2.2, contrast ratio).
func contrast(a, b string) float64 {
	luminance := func(hex string) float64 {
		rgb := channels(hex)
		return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
	}
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}
