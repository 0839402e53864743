package session

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
)

// ToolProgram is the path of the client's program in the image of a tool.
const ToolProgram = "/assay/bin/assay-load"

// checkTool returns an error for a plan that its tool can't run.
func (p *Plan) checkTool() error {
	switch {
	case p.Tool == "", p.Tool == result.ToolK6: // whose client checks the plan as package k6script does
		return nil
	case p.Tool != result.ToolAB && p.Tool != result.ToolSiege:
		return fmt.Errorf("tool %q", p.Tool)
	case len(p.Requests) != 1 || p.Requests[0].Method != "" || len(p.Requests[0].Headers) > 0 || p.TLS != nil || p.Streams > 0 ||
		p.Authentication != "" || p.Cookies || p.Arrivals != nil || p.ThinkTime != nil || len(p.Measurement.Profile) > 0:
		return fmt.Errorf("a load that %s doesn't make", p.Tool)
	}
	return nil
}
