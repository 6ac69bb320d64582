flux:only-flux-knows
