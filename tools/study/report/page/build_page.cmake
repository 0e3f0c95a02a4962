# Runs npm and the bundler: cmake -D NPM= -D NODE= -D SOURCE= -D FOLDER= -D OUTPUT= -D REQUIRED= -P build_page.cmake.
# Without success the page is empty, which `heddle report` tells, unless it is required.
file(MAKE_DIRECTORY ${FOLDER})
file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${FOLDER})
execute_process(
  COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1
  WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
if(failed EQUAL 0)
  execute_process(COMMAND ${NODE} ${SOURCE}/build.mjs ${FOLDER} ${OUTPUT}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
endif()
if(NOT failed EQUAL 0)
  if(REQUIRED)
    message(FATAL_ERROR "The page of `heddle report` cannot be built:\n${log}")
  endif()
  message(WARNING "The page of `heddle report` cannot be built, so this heddle will have none:\n${log}")
  file(WRITE ${OUTPUT} "")
endif()
