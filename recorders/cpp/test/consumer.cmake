# Installs the package into an empty prefix, and builds and runs a project that finds it there.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${built} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -S ${source} -B ${work}/build -D CMAKE_PREFIX_PATH=${work}/prefix
  -D CMAKE_CXX_COMPILER=${cxx} -D CMAKE_C_COMPILER=${cc})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${CMAKE_COMMAND} -E env OMNILINK_TRACE=${work}/trace ${work}/build/harness)
run(${CMAKE_COMMAND} -E compare_files ${work}/trace/manifest.json ${source}/manifest.json)
