// Copyright 2016-2024, Pulumi Corporation; licensed under the Apache License, Version 2.0, as the file that this one replaces.
//
// This file replaces go/kubernetes/yaml/v2/kinds.go of github.com/pulumi/pulumi-kubernetes/sdk/v4 when the provider is built.
// The original names each of 157 kinds with a Go type of its own, and so compiles 60 packages of the SDK, which takes more than
// half of the provider's build. The provider reads only the URN of what is registered, so one type holds all kinds.
// The list of lists is the original's.

package v2

import (
	"fmt"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func IsListKind(apiVersion, kind string) bool {
	fullKind := fmt.Sprintf("%s/%s", apiVersion, kind)
	switch fullKind {
	case "v1/List",
		"admissionregistration.k8s.io/v1/MutatingWebhookConfigurationList",
		"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBindingList",
		"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyList",
		"admissionregistration.k8s.io/v1/ValidatingWebhookConfigurationList",
		"admissionregistration.k8s.io/v1alpha1/MutatingAdmissionPolicyBindingList",
		"admissionregistration.k8s.io/v1alpha1/MutatingAdmissionPolicyList",
		"admissionregistration.k8s.io/v1alpha1/ValidatingAdmissionPolicyBindingList",
		"admissionregistration.k8s.io/v1alpha1/ValidatingAdmissionPolicyList",
		"admissionregistration.k8s.io/v1beta1/MutatingWebhookConfigurationList",
		"admissionregistration.k8s.io/v1beta1/ValidatingAdmissionPolicyBindingList",
		"admissionregistration.k8s.io/v1beta1/ValidatingAdmissionPolicyList",
		"admissionregistration.k8s.io/v1beta1/ValidatingWebhookConfigurationList",
		"apiextensions.k8s.io/v1/CustomResourceDefinitionList",
		"apiextensions.k8s.io/v1beta1/CustomResourceDefinitionList",
		"apiregistration.k8s.io/v1/APIServiceList",
		"apiregistration.k8s.io/v1beta1/APIServiceList",
		"apps/v1/ControllerRevisionList",
		"apps/v1/DaemonSetList",
		"apps/v1/DeploymentList",
		"apps/v1/ReplicaSetList",
		"apps/v1/StatefulSetList",
		"apps/v1beta1/ControllerRevisionList",
		"apps/v1beta1/DeploymentList",
		"apps/v1beta1/StatefulSetList",
		"apps/v1beta2/ControllerRevisionList",
		"apps/v1beta2/DaemonSetList",
		"apps/v1beta2/DeploymentList",
		"apps/v1beta2/ReplicaSetList",
		"apps/v1beta2/StatefulSetList",
		"auditregistration.k8s.io/v1alpha1/AuditSinkList",
		"autoscaling/v1/HorizontalPodAutoscalerList",
		"autoscaling/v2/HorizontalPodAutoscalerList",
		"autoscaling/v2beta1/HorizontalPodAutoscalerList",
		"autoscaling/v2beta2/HorizontalPodAutoscalerList",
		"batch/v1/CronJobList",
		"batch/v1/JobList",
		"batch/v1beta1/CronJobList",
		"batch/v2alpha1/CronJobList",
		"certificates.k8s.io/v1/CertificateSigningRequestList",
		"certificates.k8s.io/v1alpha1/ClusterTrustBundleList",
		"certificates.k8s.io/v1beta1/CertificateSigningRequestList",
		"certificates.k8s.io/v1beta1/ClusterTrustBundleList",
		"coordination.k8s.io/v1/LeaseList",
		"coordination.k8s.io/v1alpha1/LeaseCandidateList",
		"coordination.k8s.io/v1alpha2/LeaseCandidateList",
		"coordination.k8s.io/v1beta1/LeaseCandidateList",
		"coordination.k8s.io/v1beta1/LeaseList",
		"v1/ConfigMapList",
		"v1/EndpointsList",
		"v1/EventList",
		"v1/LimitRangeList",
		"v1/NamespaceList",
		"v1/NodeList",
		"v1/PersistentVolumeClaimList",
		"v1/PersistentVolumeList",
		"v1/PodList",
		"v1/PodTemplateList",
		"v1/ReplicationControllerList",
		"v1/ResourceQuotaList",
		"v1/SecretList",
		"v1/ServiceAccountList",
		"v1/ServiceList",
		"discovery.k8s.io/v1/EndpointSliceList",
		"discovery.k8s.io/v1beta1/EndpointSliceList",
		"events.k8s.io/v1/EventList",
		"events.k8s.io/v1beta1/EventList",
		"extensions/v1beta1/DaemonSetList",
		"extensions/v1beta1/DeploymentList",
		"extensions/v1beta1/IngressList",
		"extensions/v1beta1/NetworkPolicyList",
		"extensions/v1beta1/PodSecurityPolicyList",
		"extensions/v1beta1/ReplicaSetList",
		"flowcontrol.apiserver.k8s.io/v1/FlowSchemaList",
		"flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfigurationList",
		"flowcontrol.apiserver.k8s.io/v1alpha1/FlowSchemaList",
		"flowcontrol.apiserver.k8s.io/v1alpha1/PriorityLevelConfigurationList",
		"flowcontrol.apiserver.k8s.io/v1beta1/FlowSchemaList",
		"flowcontrol.apiserver.k8s.io/v1beta1/PriorityLevelConfigurationList",
		"flowcontrol.apiserver.k8s.io/v1beta2/FlowSchemaList",
		"flowcontrol.apiserver.k8s.io/v1beta2/PriorityLevelConfigurationList",
		"flowcontrol.apiserver.k8s.io/v1beta3/FlowSchemaList",
		"flowcontrol.apiserver.k8s.io/v1beta3/PriorityLevelConfigurationList",
		"networking.k8s.io/v1/IPAddressList",
		"networking.k8s.io/v1/IngressClassList",
		"networking.k8s.io/v1/IngressList",
		"networking.k8s.io/v1/NetworkPolicyList",
		"networking.k8s.io/v1/ServiceCIDRList",
		"networking.k8s.io/v1alpha1/ClusterCIDRList",
		"networking.k8s.io/v1alpha1/IPAddressList",
		"networking.k8s.io/v1alpha1/ServiceCIDRList",
		"networking.k8s.io/v1beta1/IPAddressList",
		"networking.k8s.io/v1beta1/IngressClassList",
		"networking.k8s.io/v1beta1/IngressList",
		"networking.k8s.io/v1beta1/ServiceCIDRList",
		"node.k8s.io/v1/RuntimeClassList",
		"node.k8s.io/v1alpha1/RuntimeClassList",
		"node.k8s.io/v1beta1/RuntimeClassList",
		"policy/v1/PodDisruptionBudgetList",
		"policy/v1beta1/PodDisruptionBudgetList",
		"policy/v1beta1/PodSecurityPolicyList",
		"rbac.authorization.k8s.io/v1/ClusterRoleBindingList",
		"rbac.authorization.k8s.io/v1/ClusterRoleList",
		"rbac.authorization.k8s.io/v1/RoleBindingList",
		"rbac.authorization.k8s.io/v1/RoleList",
		"rbac.authorization.k8s.io/v1alpha1/ClusterRoleBindingList",
		"rbac.authorization.k8s.io/v1alpha1/ClusterRoleList",
		"rbac.authorization.k8s.io/v1alpha1/RoleBindingList",
		"rbac.authorization.k8s.io/v1alpha1/RoleList",
		"rbac.authorization.k8s.io/v1beta1/ClusterRoleBindingList",
		"rbac.authorization.k8s.io/v1beta1/ClusterRoleList",
		"rbac.authorization.k8s.io/v1beta1/RoleBindingList",
		"rbac.authorization.k8s.io/v1beta1/RoleList",
		"resource.k8s.io/v1alpha1/PodSchedulingList",
		"resource.k8s.io/v1alpha1/ResourceClaimList",
		"resource.k8s.io/v1alpha1/ResourceClaimTemplateList",
		"resource.k8s.io/v1alpha1/ResourceClassList",
		"resource.k8s.io/v1alpha2/PodSchedulingContextList",
		"resource.k8s.io/v1alpha2/ResourceClaimList",
		"resource.k8s.io/v1alpha2/ResourceClaimParametersList",
		"resource.k8s.io/v1alpha2/ResourceClaimTemplateList",
		"resource.k8s.io/v1alpha2/ResourceClassList",
		"resource.k8s.io/v1alpha2/ResourceClassParametersList",
		"resource.k8s.io/v1alpha2/ResourceSliceList",
		"resource.k8s.io/v1alpha3/DeviceClassList",
		"resource.k8s.io/v1alpha3/DeviceTaintRuleList",
		"resource.k8s.io/v1alpha3/PodSchedulingContextList",
		"resource.k8s.io/v1alpha3/ResourceClaimList",
		"resource.k8s.io/v1alpha3/ResourceClaimTemplateList",
		"resource.k8s.io/v1alpha3/ResourceSliceList",
		"resource.k8s.io/v1beta1/DeviceClassList",
		"resource.k8s.io/v1beta1/ResourceClaimList",
		"resource.k8s.io/v1beta1/ResourceClaimTemplateList",
		"resource.k8s.io/v1beta1/ResourceSliceList",
		"resource.k8s.io/v1beta2/DeviceClassList",
		"resource.k8s.io/v1beta2/ResourceClaimList",
		"resource.k8s.io/v1beta2/ResourceClaimTemplateList",
		"resource.k8s.io/v1beta2/ResourceSliceList",
		"scheduling.k8s.io/v1/PriorityClassList",
		"scheduling.k8s.io/v1alpha1/PriorityClassList",
		"scheduling.k8s.io/v1beta1/PriorityClassList",
		"settings.k8s.io/v1alpha1/PodPresetList",
		"storage.k8s.io/v1/CSIDriverList",
		"storage.k8s.io/v1/CSINodeList",
		"storage.k8s.io/v1/CSIStorageCapacityList",
		"storage.k8s.io/v1/StorageClassList",
		"storage.k8s.io/v1/VolumeAttachmentList",
		"storage.k8s.io/v1alpha1/VolumeAttachmentList",
		"storage.k8s.io/v1alpha1/VolumeAttributesClassList",
		"storage.k8s.io/v1beta1/CSIDriverList",
		"storage.k8s.io/v1beta1/CSINodeList",
		"storage.k8s.io/v1beta1/CSIStorageCapacityList",
		"storage.k8s.io/v1beta1/StorageClassList",
		"storage.k8s.io/v1beta1/VolumeAttachmentList",
		"storage.k8s.io/v1beta1/VolumeAttributesClassList",
		"storagemigration.k8s.io/v1alpha1/StorageVersionMigrationList":
		return true
	default:
		return false
	}
}

// RegisterResource registers an object of any kind. Its token is that of the kind's own type.
func RegisterResource(ctx *pulumi.Context, apiVersion, kind, name string, props pulumi.Input,
	opts ...pulumi.ResourceOption) (pulumi.CustomResource, error) {
	group := apiVersion
	if group == "v1" {
		group = "core/v1"
	}
	var res apiextensions.CustomResource
	err := ctx.RegisterResource(fmt.Sprintf("kubernetes:%s:%s", group, kind), name, props, &res, opts...)
	if err != nil {
		return nil, err
	}
	return &res, nil
}
