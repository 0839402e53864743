package target

func readHTTPD(string) Logged                   { return Logged{} }
func checkHTTPD(*input, Logged) []Contradiction { return nil }
