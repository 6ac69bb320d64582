// Command pulumi-resource-kubernetes is the Kubernetes provider plugin of the Pulumi engine.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

// The engine asks the plugin for a schema only to generate SDKs; the Python SDK is a package of its own,
// so a name and a version are all that is ever read.
func main() {
	schema := fmt.Sprintf(`{"name":"kubernetes","version":%q}`, version.Version)
	provider.Serve("kubernetes", version.Version, []byte(schema), []byte("{}"))
}
