// Command controlplane is a Kubernetes control plane in one binary: the first argument says which part runs.
//
//	controlplane etcd | kube-apiserver | kube-controller-manager | kube-scheduler [flags]
//
// One binary instead of four because the parts share almost all of their code: it links once, and takes a third of the disk.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var parts = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	if len(os.Args) < 2 {
		fail("no part named")
	}
	part := os.Args[1]
	// Each part parses os.Args itself; etcd reads it directly.
	os.Args = append([]string{part}, os.Args[2:]...)
	if part == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	build, known := parts[part]
	if !known {
		fail(fmt.Sprintf("unknown part %q", part))
	}
	os.Exit(cli.Run(build()))
}

func fail(why string) {
	fmt.Fprintf(os.Stderr, "controlplane: %s; one of: etcd, kube-apiserver, kube-controller-manager, kube-scheduler\n", why)
	os.Exit(2)
}
