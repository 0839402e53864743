package tomcat

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/jsse"
)

const (
	// applicationDirectory has a copy of the image's applications, in which Tomcat can unpack them as any user.
	applicationDirectory = ownDirectory + "/webapps"
	// contentDirectory has the content if it isn't an application of its own.
	contentDirectory = "/assay/content"
	// contextDefaults is the file for all applications of the host, relative to base
	// (https://tomcat.apache.org/tomcat-11.0-doc/config/context.html).
	contextDefaults = "conf/Catalina/localhost/context.xml.default"
)

// addedContent adds the content behind an application's own files.
var addedContent = `<Context><Resources><PostResources className="org.apache.catalina.webresources.DirResourceSet" base="` +
	contentDirectory + `" webAppMount="/" readOnly="true"/></Resources></Context>
`

// applications returns whose applications are deployed.
func applications(in *adapter.Input) v1alpha1.Applications {
	byDefault := v1alpha1.ApplicationsImage
	if len(in.Content) > 0 {
		byDefault = v1alpha1.ApplicationsContent
	}
	return cmp.Or(in.Server.Tomcat.Applications, byDefault)
}

// deploysImage reports whether the rendered server.xml deploys the image's applications.
func deploysImage(in *adapter.Input) bool {
	return applications(in) == v1alpha1.ApplicationsImage && !ownServer(in)
}

// addApplications adds what Tomcat serves.
func addApplications(in *adapter.Input, r *adapter.Rendering) {
	_, base := directories(in.Server.Tomcat)
	if deploysImage(in) {
		r.AddEmptyDir(in, "webapps", applicationDirectory, corev1.StorageMediumDefault)
	}
	switch {
	case len(in.Content) == 0:
	case applications(in) == v1alpha1.ApplicationsContent:
		r.MountContent(base + "/webapps/ROOT")
	default:
		r.MountContent(contentDirectory)
		r.Configure(in, "context.xml.default", addedContent, base+"/"+contextDefaults)
	}
}

// startScript returns what runs instead of catalina.sh, or an empty string if that is enough.
func startScript(in *adapter.Input) string {
	home, base := directories(in.Server.Tomcat)
	script, command := "", home+"/bin/catalina.sh run"
	if deploysImage(in) {
		// The image's directory may have none, and those of a ConfigMap are symbolic links.
		script = fmt.Sprintf("set -eu\nfor application in %s/webapps/*; do\n  if [ -e \"$application\" ]; then cp -RL \"$application\" %s/; fi\ndone\n",
			base, applicationDirectory)
		if len(in.Content) > 0 {
			script += fmt.Sprintf("if ! [ -e %[1]s/ROOT.war ]; then mkdir -p %[1]s/ROOT; fi\n", applicationDirectory)
		}
	}
	if store := trustStore(in); store != "" {
		return script + jsse.TrustStoreScript(store, command)
	}
	if script != "" {
		script += "exec " + command + "\n"
	}
	return script
}

// checkApplications rejects values that the API server rejects too, and content that would have no effect.
func checkApplications(in *adapter.Input) error {
	field := in.Field("tomcat.applications")
	if declared := applications(in); !slices.Contains([]v1alpha1.Applications{v1alpha1.ApplicationsImage, v1alpha1.ApplicationsContent}, declared) {
		return fmt.Errorf("%s: %q is not supported: use Image or Content", field, declared)
	} else if declared == v1alpha1.ApplicationsContent && len(in.Content) == 0 {
		return fmt.Errorf("%s: must not be Content without spec.target.content: set that, or omit applications", field)
	}
	if !ownServer(in) && slices.Contains(in.Content, "/META-INF/context.xml") {
		return fmt.Errorf("spec.target.content: Tomcat reads /META-INF/context.xml only of applications that it deploys itself: use context.xml of %s", in.Field("tomcat.configuration"))
	}
	return nil
}
