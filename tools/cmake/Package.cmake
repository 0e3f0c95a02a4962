# A Debian package of what `cmake --install` installs: `tools/package` makes and tests it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VENDOR "The Heddle developers")
set(CPACK_PACKAGE_CONTACT "The Heddle developers <heddle@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# The libraries that the programs are linked with, in the versions that are there at build time.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What captures start: compilers for device code and, for programs that heddle-nvcc links, a host compiler.
if(HEDDLE_HAVE_TRACEGEN)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "clang-19, g++")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-matplotlib, python3-pandas")
include(CPack)
