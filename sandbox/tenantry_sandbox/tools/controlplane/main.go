// Command controlplane is a Kubernetes control plane and kubectl in one binary. The name it is called by says which program
// runs, or else the first argument:
//
//	controlplane etcd | kube-apiserver | kube-controller-manager | kube-scheduler | kubectl [flags]
//
// One binary instead of five because the programs share almost all of their code: it links once, and takes a third of the disk.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// Each program parses os.Args itself.
var programs = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() { run(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() { run(scheduler.NewSchedulerCommand()) },
	"kubectl":                 runKubectl,
}

func main() {
	program, known := programs[filepath.Base(os.Args[0])]
	if !known {
		if len(os.Args) < 2 {
			fail("no program named")
		}
		os.Args = os.Args[1:]
		if program, known = programs[os.Args[0]]; !known {
			fail(fmt.Sprintf("unknown program %q", os.Args[0]))
		}
	}
	program()
}

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

// runKubectl does what kubectl's own main does.
func runKubectl() {
	logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func fail(why string) {
	fmt.Fprintf(os.Stderr, "controlplane: %s; one of: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl\n", why)
	os.Exit(2)
}
