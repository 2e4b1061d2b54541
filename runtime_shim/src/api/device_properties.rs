//! `cudaDeviceProp` as CUDA 13 and CUDA 12 lay it out.

/// The rate that the device's clock counts at, in kHz (CUDA's unit): 1 GHz.
pub const CLOCK_KILOHERTZ: i32 = 1_000_000;

/// What CUDA 13's `cudaGetDeviceProperties` fills. Fields have CUDA's names and meanings.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DeviceProperties {
    /// `name`.
    pub name: [u8; 256],
    /// `uuid`.
    pub uuid: [u8; 16],
    /// `luid`.
    pub luid: [u8; 8],
    /// `luidDeviceNodeMask`.
    pub luid_device_node_mask: u32,
    /// `totalGlobalMem`.
    pub total_global_mem: usize,
    /// `sharedMemPerBlock`.
    pub shared_mem_per_block: usize,
    /// `regsPerBlock`.
    pub regs_per_block: i32,
    /// `warpSize`.
    pub warp_size: i32,
    /// `memPitch`.
    pub mem_pitch: usize,
    /// `maxThreadsPerBlock`.
    pub max_threads_per_block: i32,
    /// `maxThreadsDim`.
    pub max_threads_dim: [i32; 3],
    /// `maxGridSize`.
    pub max_grid_size: [i32; 3],
    /// `totalConstMem`.
    pub total_const_mem: usize,
    /// `major`.
    pub major: i32,
    /// `minor`.
    pub minor: i32,
    /// `textureAlignment`.
    pub texture_alignment: usize,
    /// `texturePitchAlignment`.
    pub texture_pitch_alignment: usize,
    /// `multiProcessorCount`.
    pub multi_processor_count: i32,
    /// `integrated`.
    pub integrated: i32,
    /// `canMapHostMemory`.
    pub can_map_host_memory: i32,
    /// `maxTexture1D`.
    pub max_texture1d: i32,
    /// `maxTexture1DMipmap`.
    pub max_texture1d_mipmap: i32,
    /// `maxTexture2D`.
    pub max_texture2d: [i32; 2],
    /// `maxTexture2DMipmap`.
    pub max_texture2d_mipmap: [i32; 2],
    /// `maxTexture2DLinear`.
    pub max_texture2d_linear: [i32; 3],
    /// `maxTexture2DGather`.
    pub max_texture2d_gather: [i32; 2],
    /// `maxTexture3D`.
    pub max_texture3d: [i32; 3],
    /// `maxTexture3DAlt`.
    pub max_texture3d_alt: [i32; 3],
    /// `maxTextureCubemap`.
    pub max_texture_cubemap: i32,
    /// `maxTexture1DLayered`.
    pub max_texture1d_layered: [i32; 2],
    /// `maxTexture2DLayered`.
    pub max_texture2d_layered: [i32; 3],
    /// `maxTextureCubemapLayered`.
    pub max_texture_cubemap_layered: [i32; 2],
    /// `maxSurface1D`.
    pub max_surface1d: i32,
    /// `maxSurface2D`.
    pub max_surface2d: [i32; 2],
    /// `maxSurface3D`.
    pub max_surface3d: [i32; 3],
    /// `maxSurface1DLayered`.
    pub max_surface1d_layered: [i32; 2],
    /// `maxSurface2DLayered`.
    pub max_surface2d_layered: [i32; 3],
    /// `maxSurfaceCubemap`.
    pub max_surface_cubemap: i32,
    /// `maxSurfaceCubemapLayered`.
    pub max_surface_cubemap_layered: [i32; 2],
    /// `surfaceAlignment`.
    pub surface_alignment: usize,
    /// `concurrentKernels`.
    pub concurrent_kernels: i32,
    /// `ECCEnabled`.
    pub ecc_enabled: i32,
    /// `pciBusID`.
    pub pci_bus_id: i32,
    /// `pciDeviceID`.
    pub pci_device_id: i32,
    /// `pciDomainID`.
    pub pci_domain_id: i32,
    /// `tccDriver`.
    pub tcc_driver: i32,
    /// `asyncEngineCount`.
    pub async_engine_count: i32,
    /// `unifiedAddressing`.
    pub unified_addressing: i32,
    /// `memoryBusWidth`.
    pub memory_bus_width: i32,
    /// `l2CacheSize`.
    pub l2_cache_size: i32,
    /// `persistingL2CacheMaxSize`.
    pub persisting_l2_cache_max_size: i32,
    /// `maxThreadsPerMultiProcessor`.
    pub max_threads_per_multi_processor: i32,
    /// `streamPrioritiesSupported`.
    pub stream_priorities_supported: i32,
    /// `globalL1CacheSupported`.
    pub global_l1_cache_supported: i32,
    /// `localL1CacheSupported`.
    pub local_l1_cache_supported: i32,
    /// `sharedMemPerMultiprocessor`.
    pub shared_mem_per_multiprocessor: usize,
    /// `regsPerMultiprocessor`.
    pub regs_per_multiprocessor: i32,
    /// `managedMemory`.
    pub managed_memory: i32,
    /// `isMultiGpuBoard`.
    pub is_multi_gpu_board: i32,
    /// `multiGpuBoardGroupID`.
    pub multi_gpu_board_group_id: i32,
    /// `hostNativeAtomicSupported`.
    pub host_native_atomic_supported: i32,
    /// `pageableMemoryAccess`.
    pub pageable_memory_access: i32,
    /// `concurrentManagedAccess`.
    pub concurrent_managed_access: i32,
    /// `computePreemptionSupported`.
    pub compute_preemption_supported: i32,
    /// `canUseHostPointerForRegisteredMem`.
    pub can_use_host_pointer_for_registered_mem: i32,
    /// `cooperativeLaunch`.
    pub cooperative_launch: i32,
    /// `sharedMemPerBlockOptin`.
    pub shared_mem_per_block_optin: usize,
    /// `pageableMemoryAccessUsesHostPageTables`.
    pub pageable_memory_access_uses_host_page_tables: i32,
    /// `directManagedMemAccessFromHost`.
    pub direct_managed_mem_access_from_host: i32,
    /// `maxBlocksPerMultiProcessor`.
    pub max_blocks_per_multi_processor: i32,
    /// `accessPolicyMaxWindowSize`.
    pub access_policy_max_window_size: i32,
    /// `reservedSharedMemPerBlock`.
    pub reserved_shared_mem_per_block: usize,
    /// `hostRegisterSupported`.
    pub host_register_supported: i32,
    /// `sparseCudaArraySupported`.
    pub sparse_cuda_array_supported: i32,
    /// `hostRegisterReadOnlySupported`.
    pub host_register_read_only_supported: i32,
    /// `timelineSemaphoreInteropSupported`.
    pub timeline_semaphore_interop_supported: i32,
    /// `memoryPoolsSupported`.
    pub memory_pools_supported: i32,
    /// `gpuDirectRDMASupported`.
    pub gpu_direct_rdma_supported: i32,
    /// `gpuDirectRDMAFlushWritesOptions`.
    pub gpu_direct_rdma_flush_writes_options: u32,
    /// `gpuDirectRDMAWritesOrdering`.
    pub gpu_direct_rdma_writes_ordering: i32,
    /// `memoryPoolSupportedHandleTypes`.
    pub memory_pool_supported_handle_types: u32,
    /// `deferredMappingCudaArraySupported`.
    pub deferred_mapping_cuda_array_supported: i32,
    /// `ipcEventSupported`.
    pub ipc_event_supported: i32,
    /// `clusterLaunch`.
    pub cluster_launch: i32,
    /// `unifiedFunctionPointers`.
    pub unified_function_pointers: i32,
    /// `deviceNumaConfig`.
    pub device_numa_config: i32,
    /// `deviceNumaId`.
    pub device_numa_id: i32,
    /// `mpsEnabled`.
    pub mps_enabled: i32,
    /// `hostNumaId`.
    pub host_numa_id: i32,
    /// `gpuPciDeviceID`.
    pub gpu_pci_device_id: u32,
    /// `gpuPciSubsystemID`.
    pub gpu_pci_subsystem_id: u32,
    /// `hostNumaMultinodeIpcSupported`.
    pub host_numa_multinode_ipc_supported: i32,
    /// `reserved`.
    pub reserved: [i32; 56],
}

/// What CUDA 12's `cudaGetDeviceProperties_v2` fills.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DeviceProperties12 {
    /// `name`.
    pub name: [u8; 256],
    /// `uuid`.
    pub uuid: [u8; 16],
    /// `luid`.
    pub luid: [u8; 8],
    /// `luidDeviceNodeMask`.
    pub luid_device_node_mask: u32,
    /// `totalGlobalMem`.
    pub total_global_mem: usize,
    /// `sharedMemPerBlock`.
    pub shared_mem_per_block: usize,
    /// `regsPerBlock`.
    pub regs_per_block: i32,
    /// `warpSize`.
    pub warp_size: i32,
    /// `memPitch`.
    pub mem_pitch: usize,
    /// `maxThreadsPerBlock`.
    pub max_threads_per_block: i32,
    /// `maxThreadsDim`.
    pub max_threads_dim: [i32; 3],
    /// `maxGridSize`.
    pub max_grid_size: [i32; 3],
    /// `clockRate`.
    pub clock_rate: i32,
    /// `totalConstMem`.
    pub total_const_mem: usize,
    /// `major`.
    pub major: i32,
    /// `minor`.
    pub minor: i32,
    /// `textureAlignment`.
    pub texture_alignment: usize,
    /// `texturePitchAlignment`.
    pub texture_pitch_alignment: usize,
    /// `deviceOverlap`.
    pub device_overlap: i32,
    /// `multiProcessorCount`.
    pub multi_processor_count: i32,
    /// `kernelExecTimeoutEnabled`.
    pub kernel_exec_timeout_enabled: i32,
    /// `integrated`.
    pub integrated: i32,
    /// `canMapHostMemory`.
    pub can_map_host_memory: i32,
    /// `computeMode`.
    pub compute_mode: i32,
    /// `maxTexture1D`.
    pub max_texture1d: i32,
    /// `maxTexture1DMipmap`.
    pub max_texture1d_mipmap: i32,
    /// `maxTexture1DLinear`.
    pub max_texture1d_linear: i32,
    /// `maxTexture2D`.
    pub max_texture2d: [i32; 2],
    /// `maxTexture2DMipmap`.
    pub max_texture2d_mipmap: [i32; 2],
    /// `maxTexture2DLinear`.
    pub max_texture2d_linear: [i32; 3],
    /// `maxTexture2DGather`.
    pub max_texture2d_gather: [i32; 2],
    /// `maxTexture3D`.
    pub max_texture3d: [i32; 3],
    /// `maxTexture3DAlt`.
    pub max_texture3d_alt: [i32; 3],
    /// `maxTextureCubemap`.
    pub max_texture_cubemap: i32,
    /// `maxTexture1DLayered`.
    pub max_texture1d_layered: [i32; 2],
    /// `maxTexture2DLayered`.
    pub max_texture2d_layered: [i32; 3],
    /// `maxTextureCubemapLayered`.
    pub max_texture_cubemap_layered: [i32; 2],
    /// `maxSurface1D`.
    pub max_surface1d: i32,
    /// `maxSurface2D`.
    pub max_surface2d: [i32; 2],
    /// `maxSurface3D`.
    pub max_surface3d: [i32; 3],
    /// `maxSurface1DLayered`.
    pub max_surface1d_layered: [i32; 2],
    /// `maxSurface2DLayered`.
    pub max_surface2d_layered: [i32; 3],
    /// `maxSurfaceCubemap`.
    pub max_surface_cubemap: i32,
    /// `maxSurfaceCubemapLayered`.
    pub max_surface_cubemap_layered: [i32; 2],
    /// `surfaceAlignment`.
    pub surface_alignment: usize,
    /// `concurrentKernels`.
    pub concurrent_kernels: i32,
    /// `ECCEnabled`.
    pub ecc_enabled: i32,
    /// `pciBusID`.
    pub pci_bus_id: i32,
    /// `pciDeviceID`.
    pub pci_device_id: i32,
    /// `pciDomainID`.
    pub pci_domain_id: i32,
    /// `tccDriver`.
    pub tcc_driver: i32,
    /// `asyncEngineCount`.
    pub async_engine_count: i32,
    /// `unifiedAddressing`.
    pub unified_addressing: i32,
    /// `memoryClockRate`.
    pub memory_clock_rate: i32,
    /// `memoryBusWidth`.
    pub memory_bus_width: i32,
    /// `l2CacheSize`.
    pub l2_cache_size: i32,
    /// `persistingL2CacheMaxSize`.
    pub persisting_l2_cache_max_size: i32,
    /// `maxThreadsPerMultiProcessor`.
    pub max_threads_per_multi_processor: i32,
    /// `streamPrioritiesSupported`.
    pub stream_priorities_supported: i32,
    /// `globalL1CacheSupported`.
    pub global_l1_cache_supported: i32,
    /// `localL1CacheSupported`.
    pub local_l1_cache_supported: i32,
    /// `sharedMemPerMultiprocessor`.
    pub shared_mem_per_multiprocessor: usize,
    /// `regsPerMultiprocessor`.
    pub regs_per_multiprocessor: i32,
    /// `managedMemory`.
    pub managed_memory: i32,
    /// `isMultiGpuBoard`.
    pub is_multi_gpu_board: i32,
    /// `multiGpuBoardGroupID`.
    pub multi_gpu_board_group_id: i32,
    /// `hostNativeAtomicSupported`.
    pub host_native_atomic_supported: i32,
    /// `singleToDoublePrecisionPerfRatio`.
    pub single_to_double_precision_perf_ratio: i32,
    /// `pageableMemoryAccess`.
    pub pageable_memory_access: i32,
    /// `concurrentManagedAccess`.
    pub concurrent_managed_access: i32,
    /// `computePreemptionSupported`.
    pub compute_preemption_supported: i32,
    /// `canUseHostPointerForRegisteredMem`.
    pub can_use_host_pointer_for_registered_mem: i32,
    /// `cooperativeLaunch`.
    pub cooperative_launch: i32,
    /// `cooperativeMultiDeviceLaunch`.
    pub cooperative_multi_device_launch: i32,
    /// `sharedMemPerBlockOptin`.
    pub shared_mem_per_block_optin: usize,
    /// `pageableMemoryAccessUsesHostPageTables`.
    pub pageable_memory_access_uses_host_page_tables: i32,
    /// `directManagedMemAccessFromHost`.
    pub direct_managed_mem_access_from_host: i32,
    /// `maxBlocksPerMultiProcessor`.
    pub max_blocks_per_multi_processor: i32,
    /// `accessPolicyMaxWindowSize`.
    pub access_policy_max_window_size: i32,
    /// `reservedSharedMemPerBlock`.
    pub reserved_shared_mem_per_block: usize,
    /// `hostRegisterSupported`.
    pub host_register_supported: i32,
    /// `sparseCudaArraySupported`.
    pub sparse_cuda_array_supported: i32,
    /// `hostRegisterReadOnlySupported`.
    pub host_register_read_only_supported: i32,
    /// `timelineSemaphoreInteropSupported`.
    pub timeline_semaphore_interop_supported: i32,
    /// `memoryPoolsSupported`.
    pub memory_pools_supported: i32,
    /// `gpuDirectRDMASupported`.
    pub gpu_direct_rdma_supported: i32,
    /// `gpuDirectRDMAFlushWritesOptions`.
    pub gpu_direct_rdma_flush_writes_options: u32,
    /// `gpuDirectRDMAWritesOrdering`.
    pub gpu_direct_rdma_writes_ordering: i32,
    /// `memoryPoolSupportedHandleTypes`.
    pub memory_pool_supported_handle_types: u32,
    /// `deferredMappingCudaArraySupported`.
    pub deferred_mapping_cuda_array_supported: i32,
    /// `ipcEventSupported`.
    pub ipc_event_supported: i32,
    /// `clusterLaunch`.
    pub cluster_launch: i32,
    /// `unifiedFunctionPointers`.
    pub unified_function_pointers: i32,
    /// `reserved`.
    pub reserved: [i32; 63],
}

impl From<DeviceProperties> for DeviceProperties12 {
    fn from(new: DeviceProperties) -> Self {
        Self {
            name: new.name,
            uuid: new.uuid,
            luid: new.luid,
            luid_device_node_mask: new.luid_device_node_mask,
            total_global_mem: new.total_global_mem,
            shared_mem_per_block: new.shared_mem_per_block,
            regs_per_block: new.regs_per_block,
            warp_size: new.warp_size,
            mem_pitch: new.mem_pitch,
            max_threads_per_block: new.max_threads_per_block,
            max_threads_dim: new.max_threads_dim,
            max_grid_size: new.max_grid_size,
            clock_rate: CLOCK_KILOHERTZ,
            total_const_mem: new.total_const_mem,
            major: new.major,
            minor: new.minor,
            texture_alignment: new.texture_alignment,
            texture_pitch_alignment: new.texture_pitch_alignment,
            device_overlap: 0,
            multi_processor_count: new.multi_processor_count,
            kernel_exec_timeout_enabled: 0,
            integrated: new.integrated,
            can_map_host_memory: new.can_map_host_memory,
            compute_mode: 0,
            max_texture1d: new.max_texture1d,
            max_texture1d_mipmap: new.max_texture1d_mipmap,
            max_texture1d_linear: 0,
            max_texture2d: new.max_texture2d,
            max_texture2d_mipmap: new.max_texture2d_mipmap,
            max_texture2d_linear: new.max_texture2d_linear,
            max_texture2d_gather: new.max_texture2d_gather,
            max_texture3d: new.max_texture3d,
            max_texture3d_alt: new.max_texture3d_alt,
            max_texture_cubemap: new.max_texture_cubemap,
            max_texture1d_layered: new.max_texture1d_layered,
            max_texture2d_layered: new.max_texture2d_layered,
            max_texture_cubemap_layered: new.max_texture_cubemap_layered,
            max_surface1d: new.max_surface1d,
            max_surface2d: new.max_surface2d,
            max_surface3d: new.max_surface3d,
            max_surface1d_layered: new.max_surface1d_layered,
            max_surface2d_layered: new.max_surface2d_layered,
            max_surface_cubemap: new.max_surface_cubemap,
            max_surface_cubemap_layered: new.max_surface_cubemap_layered,
            surface_alignment: new.surface_alignment,
            concurrent_kernels: new.concurrent_kernels,
            ecc_enabled: new.ecc_enabled,
            pci_bus_id: new.pci_bus_id,
            pci_device_id: new.pci_device_id,
            pci_domain_id: new.pci_domain_id,
            tcc_driver: new.tcc_driver,
            async_engine_count: new.async_engine_count,
            unified_addressing: new.unified_addressing,
            memory_clock_rate: CLOCK_KILOHERTZ,
            memory_bus_width: new.memory_bus_width,
            l2_cache_size: new.l2_cache_size,
            persisting_l2_cache_max_size: new.persisting_l2_cache_max_size,
            max_threads_per_multi_processor: new.max_threads_per_multi_processor,
            stream_priorities_supported: new.stream_priorities_supported,
            global_l1_cache_supported: new.global_l1_cache_supported,
            local_l1_cache_supported: new.local_l1_cache_supported,
            shared_mem_per_multiprocessor: new.shared_mem_per_multiprocessor,
            regs_per_multiprocessor: new.regs_per_multiprocessor,
            managed_memory: new.managed_memory,
            is_multi_gpu_board: new.is_multi_gpu_board,
            multi_gpu_board_group_id: new.multi_gpu_board_group_id,
            host_native_atomic_supported: new.host_native_atomic_supported,
            single_to_double_precision_perf_ratio: 2,
            pageable_memory_access: new.pageable_memory_access,
            concurrent_managed_access: new.concurrent_managed_access,
            compute_preemption_supported: new.compute_preemption_supported,
            can_use_host_pointer_for_registered_mem: new.can_use_host_pointer_for_registered_mem,
            cooperative_launch: new.cooperative_launch,
            cooperative_multi_device_launch: 0,
            shared_mem_per_block_optin: new.shared_mem_per_block_optin,
            pageable_memory_access_uses_host_page_tables: new
                .pageable_memory_access_uses_host_page_tables,
            direct_managed_mem_access_from_host: new.direct_managed_mem_access_from_host,
            max_blocks_per_multi_processor: new.max_blocks_per_multi_processor,
            access_policy_max_window_size: new.access_policy_max_window_size,
            reserved_shared_mem_per_block: new.reserved_shared_mem_per_block,
            host_register_supported: new.host_register_supported,
            sparse_cuda_array_supported: new.sparse_cuda_array_supported,
            host_register_read_only_supported: new.host_register_read_only_supported,
            timeline_semaphore_interop_supported: new.timeline_semaphore_interop_supported,
            memory_pools_supported: new.memory_pools_supported,
            gpu_direct_rdma_supported: new.gpu_direct_rdma_supported,
            gpu_direct_rdma_flush_writes_options: new.gpu_direct_rdma_flush_writes_options,
            gpu_direct_rdma_writes_ordering: new.gpu_direct_rdma_writes_ordering,
            memory_pool_supported_handle_types: new.memory_pool_supported_handle_types,
            deferred_mapping_cuda_array_supported: new.deferred_mapping_cuda_array_supported,
            ipc_event_supported: new.ipc_event_supported,
            cluster_launch: new.cluster_launch,
            unified_function_pointers: new.unified_function_pointers,
            reserved: [0; 63],
        }
    }
}
