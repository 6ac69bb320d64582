// Nothing is built from this: it pins the definitions of image repositories and policies.
module tenantry/tools/image-reflector

go 1.26.0

require github.com/fluxcd/image-reflector-controller v1.2.4
