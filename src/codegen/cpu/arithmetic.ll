; Arithmetic of the device.
