robot:pulls
